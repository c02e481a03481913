"""What a reproduction is made of: claims with their cases, figures with their series.

A claim holds, holds in part or does not. That is never written down by hand: a claim is
checked in several cases, each of which is true or false by a criterion that is stated beside
it, and the verdict follows from them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Literal, ParamSpec

import polars

from microveil.files.reading import SourceFile
from microveil_papers.given import Given

__all__ = [
    "Case",
    "Chart",
    "Claim",
    "DataSet",
    "Experiment",
    "Figure",
    "Listing",
    "Mark",
    "Paper",
    "Progress",
    "Reproduction",
    "Series",
    "Verdict",
    "claimed",
]

P = ParamSpec("P")
Mark = Literal["line", "level", "points", "steps"]
# Gets what is being done, the runs done, the runs in all, and the seconds left if known.
Progress = Callable[[str, int, int], None]


class Verdict(StrEnum):
    """What became of a claim."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One situation in which a claim was checked.

    Attributes
    ----------
    where : str
        The data set, epsilon or whatever sets it apart; empty where there is one case only.
    holds : bool
    measured : str
        The numbers.
    """

    where: str
    holds: bool
    measured: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim of the paper's text, and what was measured.

    Attributes
    ----------
    section : str
        Of the paper: its number, or "abstract".
    text : str
        The claim, in other words.
    criterion : str
        When a case counts as holding.
    cases : tuple of Case
        One or more.
    remark : str
        What a reader should know besides.
    """

    section: str
    text: str
    criterion: str
    cases: tuple[Case, ...]
    remark: str = ""

    def __post_init__(self) -> None:
        if not self.cases:
            message = "a claim without a case would hold"
            raise ValueError(message)

    @property
    def place(self) -> str:
        """The section in words.

        Examples
        --------
        >>> case = Case(where="", holds=True, measured="")
        >>> Claim(section="4.1", text="", criterion="", cases=(case,)).place
        'section 4.1'
        """
        return self.section if self.section.islower() else f"section {self.section}"

    @property
    def verdict(self) -> Verdict:
        """The verdict: all cases, some, or none.

        Examples
        --------
        >>> sides = [Case(where="", holds=holds, measured="") for holds in (True, False)]
        >>> claim = Claim(section="4", text="", criterion="", cases=tuple(sides))
        >>> claim.verdict
        <Verdict.IN_PART: 'holds in part'>
        """
        holding = [case.holds for case in self.cases]
        if all(holding):
            return Verdict.HOLDS
        return Verdict.IN_PART if any(holding) else Verdict.FAILS


def claimed(
    section: str, text: str, criterion: str, remark: str = ""
) -> Callable[[Callable[P, Iterable[Case]]], Callable[P, Claim]]:
    """Make a claim of the function that goes through its cases.

    Parameters
    ----------
    section, text, criterion, remark : str
        As of `Claim`.

    Returns
    -------
    callable
        A decorator: of a function that yields cases it makes one that returns the claim.

    Examples
    --------
    >>> @claimed("4", "Noise costs utility.", "the error is above 0")
    ... def noise_costs(errors):
    ...     for name, error in errors.items():
    ...         yield Case(where=name, holds=error > 0, measured=f"{error:g}")
    >>> noise_costs({"laplace": 0.3, "mdav": 0.0}).verdict
    <Verdict.IN_PART: 'holds in part'>
    """

    def of(check: Callable[P, Iterable[Case]]) -> Callable[P, Claim]:
        @wraps(check)
        def claim(*args: P.args, **kwargs: P.kwargs) -> Claim:
            return Claim(
                section=section,
                text=text,
                criterion=criterion,
                cases=tuple(check(*args, **kwargs)),
                remark=remark,
            )

        return claim

    return of


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A line, level, cloud of points or outline of a histogram.

    Attributes
    ----------
    name : str
        As in the legend; a name looks the same in all charts of a figure.
    x, y : tuple of float
        Of a level, which runs across the chart, one y and no x; of steps the edges, one more
        than heights.
    low, high : tuple of float or None
        Ends of the intervals of y, where there are any.
    mark : {"line", "level", "points", "steps"}
    """

    name: str
    y: tuple[float, ...]
    x: tuple[float, ...] = ()
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    mark: Mark = "line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One pair of axes.

    Attributes
    ----------
    title : str
    series : tuple of Series
    x_title, y_title : str
        With units.
    logarithmic, logarithmic_across : bool
        Whether the ordinate is, and the abscissa.
    from_zero : bool
        Whether a linear ordinate begins at 0.
    description : str
        What it shows, in a sentence, for those who do not see it.
    """

    title: str
    series: tuple[Series, ...]
    x_title: str
    y_title: str
    logarithmic: bool = False
    logarithmic_across: bool = False
    from_zero: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure: charts on a grid, and the table of what they show.

    Attributes
    ----------
    identifier : str
        Name of its files: "figure-3".
    title : str
    caption : str
    charts : tuple of tuples of Chart
        Rows of charts.
    table : polars.DataFrame
        Tidy; written as CSV.
    ours : bool
        Whether the paper has no such figure.
    """

    identifier: str
    title: str
    caption: str
    charts: tuple[tuple[Chart, ...], ...]
    table: polars.DataFrame
    ours: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A table of the page that belongs to no figure.

    Attributes
    ----------
    identifier : str
        Name of its file.
    title : str
    caption : str
    table : polars.DataFrame
        Shown as it is: text, and numbers rounded.
    note : str
        Below it.
    """

    identifier: str
    title: str
    caption: str
    table: polars.DataFrame
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """A paper's experiments, carried out again.

    Attributes
    ----------
    claims : tuple of Claim
    figures : tuple of Figure
    listings : tuple of Listing
    settings : dict of str to str
        What was run, and how the paper was read where it leaves that open.
    note : str
        What to know before reading the verdicts.
    given : tuple of Given
        What the epsilons that are shown take as given, by method.
    """

    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...]
    listings: tuple[Listing, ...] = ()
    settings: Mapping[str, str]
    note: str = ""
    given: tuple[Given, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """A table that a paper needs.

    Attributes
    ----------
    name : str
        As in ``--data NAME=FILE``.
    title : str
    published : str
        Where.
    columns : tuple of str
        Those that must be there.
    values : dict of str to str
        What `digest_of_column` gives of each as it was published.
    """

    name: str
    title: str
    published: str
    columns: tuple[str, ...]
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Experiment:
    """What an experiment is carried out on and with.

    Attributes
    ----------
    tables : dict of SourceFile
        By name of the data set.
    runs : int
        How often whatever is random is drawn.
    quick : bool
        Whether fewer k and settings will do.
    folder : Path
        Where runs may be kept, so that they need not be made again.
    progress : callable
    """

    tables: Mapping[str, SourceFile]
    runs: int
    quick: bool
    folder: Path
    progress: Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A paper that can be reproduced.

    Attributes
    ----------
    id : str
    title : str
    citation : str
    data : tuple of DataSet
    reproduce : callable
    runs, quick_runs : int
        How often it draws, by default and with ``quick``.
    """

    id: str
    title: str
    citation: str
    data: tuple[DataSet, ...]
    reproduce: Callable[[Experiment], Reproduction]
    runs: int = 10
    quick_runs: int = 2
