"""What may be asked of a release: each argument declared once, with its sentence and its limits.

Signatures, checks and errors, flags, entries of recipes, steps of comparisons and the docs' table
are made of `Arguments`, in whose order a person is shown them. Nothing heavy is imported here:
the command line shows its flags without a method at hand.
"""
# ruff: noqa: RUF009 -- `argument` makes a field of a dataclass

import re
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from microveil.errors import RequestError
from microveil.protect import reading

if TYPE_CHECKING:
    from fractions import Fraction

    from microveil.protect.parts import Part

# Who carries a request out: this process, or Spark. "disk" is what recipes of 0.2 may say.
DEFAULT, SPARK = "memory", "spark"
OUTDATED = (
    "engine and scratch (--engine, --scratch) are only used with Spark now; leave them out. "
    "Version 0.4 will refuse them"
)

# What several take: in words, how it is read, and what the flag is.
COLUMNS = ("names of columns", reading.column_names, list)
YES_OR_NO = ("yes or no", reading.yes_or_no, bool)
TRUTH = {"true": True, "false": False}
# What commands and recipes call something of their own.
RESERVED = {
    "data", "output", "overwrite", "public_report", "custodian_report", "ledger", "format",
    "escape_formulas", "linkage", "json", "request", "recipe", "bounds_from_data",
    "resolution_from_data", "separator", "decimal", "encoding", "dates", "thousands", "header",
    "runs", "jobs", "methods", "analyses", "show_values", "role", "type", "ordered", "microveil",
    "text", "progress", "with_measurements", "parts",
}  # fmt: skip
# What `microveil.part` takes: said of some attributes, where the others are said of the table.
OF_PART = {
    "method", "k", "epsilon", "partition", "composition", "sensitivity", "blocks", "width",
    "every", "noise", "exact_cells", "isotonic", "missing", "shuffle",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Argument:
    """What is declared of an argument, beside its name, its type in Python and its default.

    Attributes
    ----------
    help : str
        In one sentence, as the command line shows it.
    takes : str
        What it takes, in words, where there are no choices.
    read : callable
        From what was given, and the argument's name, to the checked value; raises `RequestError`.
    flag : type or None
        What its flag takes: str, int, float, bool (with a --no- too), list (repeated) or dict
        (NAME=VALUE, repeated); None where it has none.
    choices : tuple of str
        The values that it may have, where they are listed.
    more : dict of (type, str)
        Flags that say a part of it, by name, with their help.
    column : str
        Its key in a recipe's table of an attribute, where it is said there and not at the top.
    passes_over : bool
        Whether a choice that another method offers is passed over, and not refused.
    name, default : str, object

    Examples
    --------
    >>> speed = Argument(name="speed", help="slow or fast.", choices=("slow", "fast"))
    >>> speed.checked("fast")
    'fast'
    >>> speed.checked("faster")
    Traceback (most recent call last):
    microveil.errors.RequestError: speed: it must be one of slow, fast; pass speed='slow'.
    """

    help: str
    takes: str = ""
    read: reading.Reader = lambda given, _name: given
    flag: type | None = str
    choices: tuple[str, ...] = ()
    more: Mapping[str, tuple[type, str]] = field(default_factory=dict)
    column: str = ""
    passes_over: bool = False
    name: str = ""
    default: Any = None

    @property
    def flags(self) -> dict[str, tuple[type, str]]:
        """Its flags by name, its own first: what each takes, and its help."""
        own = {} if self.flag is None else {self.name: (self.flag, self.help)}
        return {**own, **self.more}

    @property
    def by_column(self) -> bool:
        """Whether it maps column names to values."""
        return self.column not in ("", "role")

    @property
    def of_part(self) -> bool:
        """Whether a part of a release says it, for its own attributes."""
        return self.name in OF_PART or not (self.by_column or self.name in DECLARED)

    @property
    def is_step(self) -> bool:
        """Whether one word says it, so that it can be written behind a method's id."""
        return self.flag not in (None, list, dict)

    def checked(self, given: Any) -> Any:
        """Return the value of what was given, or raise a `RequestError` about it."""
        if self.choices and (not isinstance(given, str) or given not in self.choices):
            raise RequestError(
                self.name,
                f"it must be one of {', '.join(self.choices)}",
                f"pass {self.name}={self.choices[0]!r}",
            )
        return self.read(given, self.name)

    def from_text(self, text: str) -> Any:
        """Return the value of one word, as behind a method's id."""
        if self.flag is bool:
            return self.checked(TRUTH.get(text, text))
        is_whole = self.flag is int and re.fullmatch(r"-?[0-9]+", text) is not None
        return self.checked(int(text) if is_whole else text)

    def check_new(self) -> None:
        """Refuse, with a ValueError, an argument by a name that is another's, or a command's."""
        others = [other for other in arguments().values() if other is not self]
        taken = {*RESERVED, *(other.name for other in others)}
        taken |= {flag for other in others for flag in other.flags}
        if taken & {self.name, *self.flags}:
            raise ValueError(f"there is another argument of the name {self.name}")


def argument(help: str, *how: Any, default: Any = None, **more: Any) -> Any:  # noqa: A002
    """Declare an argument as a field: see `Argument`."""
    return field(default=default, metadata={"declared": Argument(help, *how, **more)})


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """The arguments of `microveil.protect`, beside the table: as they are given, and by default."""

    method: str | None = argument(
        "See microveil methods; auto takes the best.", "the id of a method, or auto", reading.method
    )
    k: int | Literal["auto"] | None = argument(
        "Least records in a cluster, or auto.",
        "a whole number of 1 or more, or auto",
        reading.cluster_size,
    )
    epsilon: "float | Fraction | None" = argument(
        "The budget, above 0.", "a number above 0", reading.epsilon
    )
    delta: "float | Fraction" = argument(
        "dp-synthetic: the chance epsilon leaves out.",
        "a number from 0 to below 1",
        reading.delta,
        default=0,
    )
    scope: str | None = argument(
        "Refuse what covers less: cluster, vector, row.", choices=("cluster", "vector", "row")
    )
    attributes: Iterable[str] | None = argument(
        "Columns to protect, with commas.", *COLUMNS, column="role"
    )
    keep: Iterable[str] = argument(
        "Columns to release unprotected.", *COLUMNS, column="role", default=()
    )
    unit: str | None = argument(
        "Column of the person or household of a record.",
        "the name of a column",
        reading.column_name,
    )
    max_rows: int | None = argument(
        "Most records of one unit; alone 1: one a person.",
        "a whole number of 1 or more",
        reading.max_rows,
        flag=int,
    )
    unit_attributes: Iterable[str] = argument(
        "laplace, pram: columns of one value a unit.", *COLUMNS, default=()
    )
    bounds: Mapping[str, tuple[Any, Any]] | None = argument(
        "From where to where: NAME=0:150000.",
        "by column two numbers or dates; of text a list of categories",
        reading.by_column,
        dict,
        column="bounds",
    )
    categories: Mapping[str, Any] | None = argument(
        "All categories: NAME=North,South.",
        "by column a list of text, whole numbers or yes/no",
        reading.by_column,
        dict,
        more={"ordered": (dict, "Those in an order: NAME=low,middle,high.")},
        column="categories",
    )
    resolution: Mapping[str, Any] | None = argument(
        "The step of numbers: NAME=0.01.",
        "by column a number above 0",
        reading.by_column,
        dict,
        column="resolution",
    )
    accept: Literal["file"] | None = argument(
        "file: what it declares is publicly known.", choices=("file",)
    )
    codebook: str | Path | None = argument(
        "What is publicly known: CSV, .json, DDI .xml.", "the path of a file", reading.codebook
    )
    outside: Literal["error", "clamp"] = argument(
        "Values outside the domain: error or clamp.", choices=("error", "clamp"), default="error"
    )
    missing: Literal["error", "keep", "protect"] | Mapping[str, Literal["never"]] = argument(
        "Missing cells: error, keep or protect.",
        choices=("error", "keep", "protect"),
        default="error",
    )
    never_missing: Iterable[str] | Mapping[str, Literal["never"]] | None = argument(
        "Columns that must not lack a value.",
        "names of columns",
        reading.never_missing,
        list,
        column="missing",
    )
    missing_codes: Mapping[str, Any] | None = argument(
        "Codes for missing values: NAME=-9,9998.",
        "by column a list of numbers, dates or text",
        reading.missing_codes,
        dict,
        column="missing_codes",
    )
    missing_values: Iterable[str] = argument(
        "Text that means missing: NA,.,?",
        "text, with commas or repeated",
        reading.missing_values,
        list,
        default=(),
    )
    missing_reasons: bool = argument(
        "Write the codes of missing cells out.", *YES_OR_NO, default=False
    )
    exact_cells: Literal["refuse", "allow", "widen"] = argument(
        "Cells left exact: refuse, allow or widen.",
        choices=("refuse", "allow", "widen"),
        default="refuse",
    )
    partition: str | None = argument(
        "record-dp, idp-vector: how clusters form.",
        choices=("ranking", "optimal", "noise-aware", "mdav", "mdav-insensitive", "v-mdav"),
    )
    composition: str | None = argument(
        "kanon-dp: sequential or parallel.", choices=("parallel", "sequential")
    )
    sensitivity: str | None = argument(
        "kanon-dp: global or vector.", choices=("global", "local", "cluster-local", "vector")
    )
    blocks: Iterable[Iterable[str]] | None = argument(
        "Columns microaggregated together; repeated.", "lists of columns", reading.blocks, list
    )
    width: "float | Fraction | None" = argument(
        "k-pram, k-noise: the width of an interval.", "a number above 0", reading.width, float
    )
    every: str | None = argument("k-pram, k-noise: group or average.", choices=("group", "average"))
    # k-pram and k-noise are asked for in one recipe, each with a law of its own.
    noise: str | None = argument(
        "k-noise, k-pram: the law of the noise.",
        choices=("uniform", "laplace", "gaussian", "triangular", "draw", "permutation"),
        passes_over=True,
    )
    matrix: Mapping[str, Any] | None = argument(
        "Its transition matrix, for pram.",
        "by column a matrix of probabilities, invariant or ordinal",
        reading.by_column,
        None,
        column="matrix",
    )
    target: str | Mapping[str, Any] | None = argument(
        "What others predict; NAME=50000 cuts it there.",
        "the name of a column, or one with a number",
        reading.target,
    )
    domains: str | None = argument(
        "Not declared: learn it, or declared: refuse.", choices=("learn", "declared")
    )
    structure: str | None = argument(
        "Pairs measured: graph, tree or independent.", choices=("graph", "tree", "independent")
    )
    rules: Iterable[str] = argument(
        "dp-synthetic: rules that every released record keeps.",
        "text, each a rule: see docs/rules.md",
        reading.rules,
        None,
        more={"rule": (list, "A rule that records keep: 'TAX <= INCOME'.")},
        default=(),
    )
    n_records: int | None = argument(
        "How many records to draw; else as many.", "a whole number", reading.n_records, flag=int
    )
    budget: Mapping[str, float] | None = argument(
        "A column's weight in epsilon: NAME=2.",
        "by column a number above 0",
        reading.by_column,
        dict,
        column="budget",
    )
    isotonic: bool = argument("Put noisy means in order: more linkage.", *YES_OR_NO, default=False)
    shuffle: bool | Literal["rows", "columns"] | None = argument(
        "Rows in random order.",
        "yes or no, rows or columns",
        reading.shuffled,
        bool,
        more={"shuffle_columns": (bool, "Each column in an order of its own.")},
    )
    looked_at: Literal["data", "public"] | None = argument(
        "The request was chosen by: data or public.", choices=("data", "public")
    )
    seed: int | None = argument(
        "For experiments: protects nobody.", "a whole number", reading.seed, flag=int
    )
    types: Mapping[str, str] | None = argument(
        "What a column must hold.",
        "by column whole number, decimal, yes/no, date or text",
        reading.column_kinds,
        None,
        column="type",
    )
    population: str | None = argument(
        "Who they are: the ledger counts releases.", "a name", reading.population
    )
    engine: str = argument(
        "Outdated: see --spark.", "the name of an engine", reading.engine, default=DEFAULT
    )
    memory: int | str | None = argument(
        "Most memory, such as 2GB; else 4/5 of the free.",
        "a number of bytes, or text with MB or GB",
        reading.memory,
    )
    scratch: str | Path | None = argument(
        "A folder that driver and executors see.", "the path of a folder", reading.scratch
    )
    record_id: str | None = argument(
        "Column that orders records of equal values.", "the name of a column", reading.column_name
    )
    parts: "Iterable[Part | Mapping[str, Any]] | None" = None
    recipe: str | Path | Mapping[str, Any] | None = None


def warn_of_outdated(asked: Mapping[str, Any]) -> None:
    """Warn of arguments of an earlier version that no longer have an effect."""
    engine = asked.get("engine")
    if engine in (DEFAULT, "disk") or (engine is None and asked.get("scratch") is not None):
        warnings.warn(OUTDATED, FutureWarning, stacklevel=3)


# Before this one those of registered methods are shown.
BEHIND_METHODS = "budget"
DECLARED: dict[str, Argument] = {
    one.name: replace(own, name=one.name, default={} if own.by_column else one.default)
    for one in fields(Arguments)
    if (own := one.metadata.get("declared"))
}


def arguments() -> dict[str, Argument]:
    """Return every argument by name, in the order in which a person is shown them.

    Methods from outside the package may have declared some of their own, or more choices.
    """
    # Where the registry is not loaded nobody has registered a method.
    registry = sys.modules.get("microveil.methods")
    methods, brought = getattr(registry, "METHODS", {}), getattr(registry, "BROUGHT", {})
    found: dict[str, Argument] = {}
    for name, argument in DECLARED.items():
        if name == BEHIND_METHODS:
            for method in methods:
                for own in brought.get(method, ()):
                    found[own.name] = own
        found[name] = argument
    for method in methods.values():
        for name, choices in method.arguments.items():
            known = found[name]
            if not set(choices) <= set(known.choices):
                together = tuple(dict.fromkeys((*known.choices, *choices)))
                found[name] = replace(known, choices=together)
    return found
