"""The main verb: a table in, a protected table and its guarantee out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

from numpy.typing import NDArray

from microveil.errors import RequestError, stands_alone
from microveil.protect.arguments import SPARK, Arguments, warn_of_outdated
from microveil.protect.draw import plan_and_draw
from microveil.protect.plan import Plan
from microveil.protect.planning import plan_of, refuse_exact_cells
from microveil.protect.reading import yes_or_no
from microveil.protect.release import Release
from microveil.protect.releasing import released
from microveil.protect.settling import asking, settle, takes
from microveil.table import LabelledTable
from microveil.table.frames import is_of_spark

if TYPE_CHECKING:
    import polars

Frame = TypeVar("Frame")
Listed = ParamSpec("Listed")


@dataclass(frozen=True, kw_only=True)
class ToProtect(Arguments):
    """The arguments of a release, and what `protect` alone takes."""

    findings: bool = False


class _Protect(Protocol[Listed]):
    """What type checkers know of `protect`: a frame comes out of the kind that went in."""

    @overload
    def __call__(
        self, table: LabelledTable, *args: Listed.args, **arguments: Listed.kwargs
    ) -> Release["polars.DataFrame"]: ...

    @overload
    def __call__(
        self, table: Mapping[str, NDArray[Any]], *args: Listed.args, **arguments: Listed.kwargs
    ) -> Release[dict[str, NDArray[Any]]]: ...

    @overload
    def __call__(
        self, table: Frame, *args: Listed.args, **arguments: Listed.kwargs
    ) -> Release[Frame]: ...


def _of_its_frame(verb: Callable[Concatenate[Any, Listed], Release]) -> _Protect[Listed]:
    return cast("_Protect[Listed]", verb)


@_of_its_frame
@stands_alone
@takes(ToProtect)
def protect(table: Any, **given: Any) -> Release:
    """Protect a table about people and say truthfully what that guarantees.

    Parameters
    ----------
    table : pandas.DataFrame, polars.DataFrame, pyarrow.Table, LabelledTable or dict of arrays
        One record (row) per person. Or a polars.LazyFrame, where it is larger than memory, or a
        pyspark.sql.DataFrame, see docs/engines.md.
    method : str
        A method's id, see `methods`; "dp-synthetic" by default. "auto" takes the one with the
        least expected error among those that keep epsilon at ``scope``; at row scope by public
        figures alone, a new table ("dp-synthetic") by the error of its distributions.
    k : int or "auto"
        The least number of records in a cluster; needed where the method forms clusters.
        "auto" takes the one with the least expected error: where the method is differential
        privacy, on a stand-in that knows public figures alone.
    epsilon : float
        The budget over all attributes, above 0; 0.1 is taken as exactly 1/10. Needed where
        the method draws noise for it.
    delta : float, optional
        The chance left to events that epsilon does not bound, 0 by default; for "dp-synthetic"
        alone, where a little of it makes the budget go far further, and lets what is not declared
        of columns be learnt. Well below 1 over the number of records: 1e-9, say.
    scope : {"cluster", "vector", "row"}, optional
        What epsilon must cover; a request whose guarantee does not is refused.
    attributes : sequence of str, optional
        What to protect. Where domains are learnt, by default all columns but those named like a
        person's number or name or a survey's weight. Else by default every numeric attribute but
        whole numbers that all differ, and those named like a person's number or a survey's weight.
        The notes list columns that are left out, and why. A number that is named like a person's
        needs bounds to be protected.
    keep : sequence of str, optional
        Columns to release unprotected; the guarantee says so.
    unit : str, optional
        The column that says which records are one unit's, those of a household for example: all of
        them are protected together, by "laplace", "pram" and "dp-synthetic", and epsilon is the
        unit's. It is released with new numbers in a secret order; from "dp-synthetic", which draws
        records and no households, it is left out. "mdav", "v-mdav" and "mdav-insensitive" form
        clusters of k different units with it, and leave it out.
    max_rows : int, optional
        With ``unit``, but for "mdav" and its kin: how many records a unit may have at most, as
        publicly known. What is beyond is refused, or, with ``outside="clamp"``, left out, drawn
        without a look at the values. Without ``unit``, 1 declares that each record is another
        person's: else the guarantee says that it is not for several rows of one person together.
    unit_attributes : iterable of str, optional
        With ``unit``, for "laplace" and "pram": the protected attributes that all records of a
        unit have alike. The value of its first record is drawn once, by the attribute's whole
        share, and copied to the others.
    bounds : dict of (lower, upper), optional
        The domain of each attribute: a fact about it, not about the data. Needed by the methods
        whose entry in `methods` says so. `bounds_from_data` reads them off the table, which
        leaks. For text a list of its categories, as in ``categories``.
    categories : dict of lists, optional
        The domain of text, and of whole numbers or yes/no that are codes: every category that
        there is. In no order, only "pram" takes them; `ordered` declares an order, and then every
        method does. `categories_from_data` reads lists off the table, which leaks.
    resolution : dict of float, optional
        The step to which values are rounded, 0.01 for cents. Needed for floats; whole
        numbers have 1. `resolution_from_data` reads it off the table.
    accept : {"file"}, optional
        Take what the table's file declares as publicly known: code lists as categories, and
        missing codes, for every protected attribute where this request says nothing itself.
        Values outside the lists are refused, or see ``outside``.
    codebook : str or Path, optional
        A file that says what is publicly known of columns: a CSV file of column, label, kind,
        lower, upper, resolution and codes, a Table Schema (.json), or DDI Codebook (.xml), see
        docs/codebooks.md. It fills in domains, resolutions and missing codes where this request
        says nothing itself.
    types : dict of str, optional
        What each column must hold, "whole number", "decimal", "yes/no", "date" or "text"; one
        that holds something else is refused.
    outside : {"error", "clamp"}
        What to do with values outside their bounds.
    exact_cells : {"refuse", "allow", "widen"}
        Whether clusters of equal values, which "idp-cbls" and "idp-vector" leave without
        noise, may be published as they are; "widen" merges them with their neighbours, at
        the least loss, until none is left.
    budget : dict of float, optional
        Weights by which epsilon is split over attributes, 1 where not given.
    isotonic : bool
        Put noisy means back in order: less error, and far more linkage of rows.
    missing : {"error", "keep", "protect"}, or dict
        "keep" leaves missing (and infinite) cells out of every cluster and releases them as
        missing; "protect", for "dp-synthetic" and "pram", takes being missing as a value like
        another, and is the default where domains are learnt. By column it says what
        ``never_missing`` does: {"WAGE": "never"}.
    never_missing : sequence of str, optional
        Columns that never lack a value, as publicly known, beside ``missing="protect"`` or "keep"
        for the others: they have no missing cell in the release, and spend no budget on it. A
        table in which such a cell is missing is refused.
    missing_codes : dict of lists, optional
        What stands for a missing value, by column: {"INCOME": [-9, 99999998]}. Such a cell is
        missing, to bounds, clusters and counts alike, and is released empty. Columns that are
        kept stay as they are.
    missing_values : sequence of str, optional
        Text that stands for a missing value in every column of text: ["NA", "."].
    missing_reasons : bool
        Write the codes of ``missing_codes`` where cells are missing, so that reasons are kept
        apart. With missing="keep" each cell has its own: it is published as it is, and no claim
        covers it. With missing="protect", for "pram" alone, each code is a category like
        another: the list grows by one for each. They must lie outside the domain.
    shuffle : bool or {"rows", "columns"}
        Release the rows in random order (True means "rows"), or each attribute in a random order
        of its own, drawn in secret: no row is then a person's, vector scope is row scope, and
        dependence between attributes is gone. Columns cannot be kept beside it.
    looked_at : {"data", "public"}, optional
        By what figures you chose method, k or epsilon before you ask. "data": by some that come
        from this table, those of `advise` or a comparison; the guarantee takes the choice as given,
        is individual differential privacy at most, and does not cover row scope, where such a
        request is refused. "public": by none; the guarantee says that you declare so. By default
        it says nothing of it.
    seed : int, optional
        For experiments only: the release then protects nobody.
    engine : {"memory", "disk", "spark"}, optional
        Of an earlier version; "spark" is taken by itself for a frame of Spark's.
    memory : int or str, optional
        How much of it may be taken, "2GB" for example, by default four fifths of what is free.
        What takes more is refused; of a polars.LazyFrame one column is at hand at a time.
    scratch : str or Path, optional
        For "spark": a folder that the driver and all executors see.
    record_id : str, optional
        For "spark", whose rows are in no order: the column, different in each record, that decides
        between records of equal values. What is released is as of a table in the order of it.
    population : str, optional
        Who the people are, in up to 200 characters: `Release.write` then records the release
        in the custodian's ledger, which counts all releases of theirs.
    recipe : str, Path or dict, optional
        A recipe file or its contents; arguments given here override it.
    parts : sequence of Part, optional
        Several methods in one release, each for attributes of its own, as `part` makes them:
        method, k, epsilon and the steps of a method are then said by each part, and the epsilon of
        the release is the sum of theirs.
    partition : {"mdav", "ranking", "optimal", "noise-aware"}, optional
        For "record-dp"; for "idp-vector" "ranking" or "noise-aware".
    composition : {"sequential", "parallel"}, optional
        For "kanon-dp".
    blocks : sequence of sequences of str, optional
        Attributes that are microaggregated together, for methods over several attributes.
    width : float, optional
        Of an interval, for "k-pram" and "k-noise"; k is then not needed.
    every : {"group", "average"}, optional
        Whether every interval must hold k records, or they do on average.
    noise : str, optional
        For "k-noise" the law, "uniform", "laplace", "gaussian" or "triangular"; for "k-pram"
        "draw" or "permutation".
    matrix : dict, optional
        For "pram": by attribute a transition matrix, or "invariant".
    target : str or dict, optional
        For "dp-synthetic": the attribute that the others are to predict, and of numbers where it
        is cut in two: "INCOME", {"INCOME": 50_000}.
    domains : {"learn", "declared"}, optional
        For "dp-synthetic": whether categories, bounds and decimals that are not declared are learnt
        from the table within epsilon and delta, or refused. Nothing is learnt without a delta.
    structure : {"graph", "tree", "independent"}, optional
        For "dp-synthetic": which pairs of attributes are measured.
    rules : sequence of str, optional
        For "dp-synthetic": rules that every released record keeps, as publicly known: "TAX <=
        INCOME", "AGE < 16 implies WAGE == 0"; by "AGE == YEAR - BIRTH" a column is computed. See
        docs/rules.md.
    n_records : int, optional
        For "dp-synthetic": how many records to draw; by default as many as there are.
    findings : bool
        Hold the release against its original too, as the command line does: what moved, which
        relations were kept and who is found again stand in ``release.manifest``, the custodian's.
    sensitivity : {"global", "vector"}, optional
        For "kanon-dp". Choices that a method has no step for are accepted, and the manifest
        and the notes say that they were unused.

    Returns
    -------
    Release
        The protected table (same kind of frame, column types and row order unless
        shuffled), its guarantee, notes for the publisher, and the custodian's manifest.

    Raises
    ------
    MicroveilError
        If the request or the table breaks a rule; nothing is released then.

    Notes
    -----
    O(n log n) time for each attribute, a few columns of memory; for partitions over several
    attributes see `partition`.

    Examples
    --------
    >>> import numpy as np
    >>> people = {"AGE": np.array([23, 35, 31, 62, 58, 47]), "PLACE": np.array(list("aabbcc"))}
    >>> release = protect(
    ...     people, method="dp-um", k=3, epsilon=1, attributes=["AGE"], bounds={"AGE": (0, 120)}
    ... )
    >>> release.data["AGE"].shape, release.guarantee.scopes.vector.epsilon
    ((6,), 1.0)
    """
    findings = given.pop("findings", False)
    with asking(table, given) as asked:
        yes_or_no(findings, "findings")
        if _is_in_spark(table, asked):
            from microveil.protect.spark.protecting import protect_in_spark

            if findings:
                rule, remedy = "Spark holds no release against its original", "leave it out"
                raise RequestError("findings", rule, remedy)
            return protect_in_spark(table, asked)
        planned, drawn = plan_and_draw(settle(table, asked))
        release = released(planned, drawn)
        if not findings:
            return release
        # The room above, which is loaded where it is asked for.
        above = import_module("microveil.commands.files")
        original = above.original_of(planned, drawn, table)
        held: Release = above.with_findings(release, planned, original, asked)
        return held


def _is_in_spark(table: Any, asked: Mapping[str, Any]) -> bool:
    """Whether a table is a frame of Spark's, which alone is protected there."""
    if not is_of_spark(table):
        warn_of_outdated(asked)
    if not is_of_spark(table) and asked.get("engine") == SPARK:
        rule, remedy = "Spark takes a Spark data frame", "leave out the engine, or pass one"
        raise RequestError("engine", rule, remedy)
    return is_of_spark(table)


@stands_alone
@takes(Arguments)
def plan(table: Any, **given: Any) -> Plan:
    """Decide everything about a release short of drawing its noise.

    Takes the arguments of `protect`. The plan is deterministic, with one exception: which records
    of a unit stay, of more than ``max_rows``, is drawn at random first. It holds figures that
    depend on the data and is not for publication.

    Examples
    --------
    >>> import numpy as np
    >>> ages = {"AGE": np.array([23, 35, 31, 62, 58, 47])}
    >>> plan(
    ...     ages, method="dp-um", k=3, epsilon=1, attributes=["AGE"], bounds={"AGE": (0, 120)}
    ... ).attributes[0].sums
    array([ 89, 167])
    """
    with asking(table, given) as asked:
        if _is_in_spark(table, asked):
            from microveil.protect.spark.protecting import plan_in_spark

            return plan_in_spark(table, asked)
        planned = plan_of(settle(table, asked))
        refuse_exact_cells(planned)
        return planned
