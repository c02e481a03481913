"""The arguments that only some methods have a step for; which, and with which choices, they say."""

import datetime
import numbers
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from microveil.arguments import reading
from microveil.arguments.argument import Argument, Entry, Flag
from microveil.errors import RequestError

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = [
    "BLOCKS",
    "COMPOSITION",
    "EVERY",
    "MATRIX",
    "NOISE",
    "N_RECORDS",
    "PARTITION",
    "SENSITIVITY",
    "STEPS",
    "STRUCTURE",
    "TARGET",
    "WIDTH",
]

Number = int | float
Blocks = tuple[tuple[str, ...], ...]


def _fitting_blocks(given: Blocks | None, names: Sequence[str]) -> Blocks:
    """Return one block of all attributes, or the blocks that hold each of them."""
    if given is None:
        return (tuple(names),)
    members = {name for block in given for name in block}
    if members != set(names):
        odd = min(members ^ set(names))
        raise RequestError(
            f"column '{odd}'",
            "blocks must hold every protected attribute and no other column",
            "name it in one block, or leave it out of all",
        )
    return given


def _fitting_matrices(given: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any]:
    for name in given:
        if name not in names:
            raise RequestError(
                f"matrix of '{name}'", "it is no protected attribute", "leave it out"
            )
    return given


def _fitting_target(
    given: "tuple[str, Any] | None", names: Sequence[str]
) -> "tuple[str, Any] | None":
    """Find the target among the protected attributes; a threshold may be written behind it."""
    if given is None or given[0] in names:
        return given
    cut = max((n for n in names if given[0].startswith(f"{n}=")), key=len, default=None)
    text = "" if cut is None else given[0][len(cut) + 1 :]
    try:
        threshold = datetime.date.fromisoformat(text) if "-" in text[1:] else float(text)
    except ValueError:
        threshold = None
    if cut is None or given[1] is not None or threshold is None:
        raise RequestError(
            f"target '{given[0]}'",
            "it is no protected attribute",
            f"name one of {', '.join(names)}",
        )
    return cut, threshold


def _written_target(given: "tuple[str, Any] | None") -> Any:
    """Write a target as a recipe has it: a name, or one with the number or date of its cut."""
    if given is None or given[1] is None:
        return None if given is None else given[0]
    name, cut = given
    if isinstance(cut, datetime.date):
        return {name: f"{cut:%Y-%m-%d}"}
    return {name: int(cut) if isinstance(cut, numbers.Integral) else float(cut)}


PARTITION: Argument[str] = Argument(
    name="partition",
    help="record-dp: mdav, ranking, optimal or noise-aware; idp-vector: ranking or noise-aware.",
    choices=("ranking", "optimal", "noise-aware", "mdav", "mdav-insensitive", "v-mdav"),
    flags=(Flag(),),
    entry=Entry(type=str),
)
COMPOSITION: Argument[str] = Argument(
    name="composition",
    help="kanon-dp: sequential or parallel.",
    choices=("parallel", "sequential"),
    flags=(Flag(),),
    entry=Entry(type=str),
)
SENSITIVITY: Argument[str] = Argument(
    name="sensitivity",
    help="kanon-dp: global or vector.",
    choices=("global", "local", "cluster-local", "vector"),
    flags=(Flag(),),
    entry=Entry(type=str),
)
BLOCKS: Argument[Blocks] = Argument(
    name="blocks",
    help="Columns microaggregated together: A,B; repeated for each block.",
    read=reading.blocks,
    takes="lists of columns",
    flags=(Flag(repeated=True),),
    entry=Entry(type=list[list[str]]),
    fit=_fitting_blocks,
)
WIDTH: Argument["Fraction | None"] = Argument(
    name="width",
    help="k-pram, k-noise: the width of an interval.",
    read=reading.above_0("width"),
    takes="a number above 0",
    flags=(Flag(kind=float),),
    entry=Entry(type=Number),
    sets_aside=("k", "every"),
)
EVERY: Argument[str] = Argument(
    name="every",
    help="k-pram, k-noise: group or average.",
    choices=("group", "average"),
    flags=(Flag(),),
    entry=Entry(type=str),
)
NOISE: Argument[str] = Argument(
    name="noise",
    help="k-noise: uniform, laplace, gaussian, triangular; k-pram: draw, permutation.",
    choices=("uniform", "laplace", "gaussian", "triangular", "draw", "permutation"),
    flags=(Flag(),),
    entry=Entry(type=str),
    # k-pram and k-noise are asked for in one recipe, each with a law of its own.
    passes_over=True,
)
MATRIX: Argument[Mapping[str, Any]] = Argument(
    name="matrix",
    help="Its transition matrix, for pram.",
    read=reading.by_column("matrix"),
    takes="by column a matrix of probabilities, invariant or ordinal",
    default={},
    entry=Entry(type=list[list[Number]] | Literal["invariant", "ordinal"], by_column=True),
    fit=_fitting_matrices,
)

TARGET: Argument["tuple[str, Any] | None"] = Argument(
    name="target",
    help="dp-synthetic: the column to be predicted from the others; NAME=50000 cuts it there.",
    read=reading.target,
    takes="the name of a column, or one with a number",
    flags=(Flag(),),
    entry=Entry(type=str | dict[str, Number | datetime.date]),
    fit=_fitting_target,
    sets_aside=("structure",),
    write=_written_target,
    of_table=True,
)
STRUCTURE: Argument[str] = Argument(
    name="structure",
    help="dp-synthetic: graph, tree or independent.",
    choices=("graph", "tree", "independent"),
    flags=(Flag(),),
    entry=Entry(type=str),
    of_table=True,
)
N_RECORDS: Argument["int | None"] = Argument(
    name="n_records",
    help="dp-synthetic: how many records to draw; by default as many as there are.",
    read=reading.record_count,
    takes="a whole number",
    flags=(Flag(kind=int),),
    entry=Entry(type=int),
    of_table=True,
)

STEPS: tuple[Argument[Any], ...] = (
    PARTITION,
    COMPOSITION,
    SENSITIVITY,
    BLOCKS,
    WIDTH,
    EVERY,
    NOISE,
    MATRIX,
    TARGET,
    STRUCTURE,
    N_RECORDS,
)
