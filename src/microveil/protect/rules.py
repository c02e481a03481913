"""The rules between the arguments of a request, and its method: each yields what is wrong."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from microveil.errors import RequestError
from microveil.guarantee import Scope
from microveil.methods import METHODS, Method

if TYPE_CHECKING:
    from microveil.protect.request import Request


def _able(is_able: Callable[[Method], bool]) -> str:
    return ", ".join(method.id for method in METHODS.values() if is_able(method))


def _isotonic(request: "Request") -> Iterator[RequestError]:
    if request.isotonic and "isotonic" not in request.method.can:
        yield RequestError(
            "isotonic",
            f"{request.method.id} has no noisy clusters in ascending order to put in order",
            "leave it out, or choose a method that clusters by rank and draws noise",
        )


def _record_id(request: "Request") -> Iterator[RequestError]:
    if request.record_id is not None and request.engine != "spark":
        yield RequestError(
            "record_id",
            "rows that are in an order need none: it is for a table of Spark's",
            "leave it out, or pass a frame of Spark's (--spark)",
        )


def refused_looked_at(scope: str | None, looked_at: str | None) -> Iterator[RequestError]:
    """Refuse at row scope what was chosen by the data.

    Another table might have led to another choice, which is published.
    """
    if scope == Scope.ROW and looked_at == "data":
        yield RequestError(
            "looked_at",
            "at row scope method, k and epsilon must not be chosen by figures that come from the "
            "data: what was chosen would hang on them",
            "choose them anew by public figures, by an earlier table or by invented people, or ask "
            "for a weaker scope",
        )


def refused_twice(attributes: Sequence[str], keep: Sequence[str]) -> Iterator[RequestError]:
    """Refuse columns that are to be protected and kept."""
    for name in sorted(set(attributes) & set(keep)):
        rule = "it is both to be protected and to be kept"
        yield RequestError(f"column '{name}'", rule, "name it once")


def refused_shuffle(shuffle: str | None, keep: Sequence[str]) -> Iterator[RequestError]:
    """Refuse to keep columns where each attribute is shuffled by itself."""
    if shuffle == "columns" and keep:
        yield RequestError(
            "shuffle",
            "columns that are kept would stand beside values of other people once each "
            "attribute is shuffled by itself",
            "leave out keep, or shuffle the rows",
        )


def _domains(request: "Request") -> Iterator[RequestError]:
    for name in sorted(set(request.bounds) & set(request.categories)):
        yield RequestError(
            f"domain of '{name}'",
            "bounds and categories are both given, and an attribute has one domain",
            "leave one of them out",
        )


def _unit(request: "Request") -> Iterator[RequestError]:
    method = request.method
    beside = [name for name in ("max_rows", "unit_attributes") if getattr(request, name)]
    if request.unit is None:
        for name in beside:
            yield RequestError(
                name,
                "it says what the records of one unit are, and no unit is named",
                "name its column, for example unit='HOUSEHOLD' (--unit HOUSEHOLD), or leave it out",
            )
        return
    if method.refuses_unit is not None:
        # Without an epsilon, counting people is a way out too.
        able = "max_rows" if "epsilon" in method.needs else "unit"
        yield RequestError(
            "unit",
            f"{method.id} cannot protect all records of a unit together: {method.refuses_unit}",
            f"choose {_able(lambda one: one.uses(able))}, or leave out unit, and a record is "
            "what is protected",
        )
        return
    if "units" in method.can:
        for name in beside:
            yield RequestError(
                name,
                f"{method.id} counts the people of a cluster, however many records each has, "
                "and has no epsilon to share out among these",
                "leave it out",
            )
    elif request.max_rows is None:
        yield RequestError(
            "max_rows",
            "how many records a unit may have is a public fact, which is never read from the data",
            "pass for example max_rows=8 (--max-rows 8)",
        )
    if request.unit in (*(request.attributes or ()), *request.keep):
        numbered = (
            "" if "units" in method.can else ": new numbers take its place where rows are kept"
        )
        yield RequestError(
            f"column '{request.unit}'",
            f"it says which records are one unit's, and is not released{numbered}",
            "leave it out of attributes and keep",
        )
    if request.unit_attributes and "new table" in method.can:
        yield RequestError(
            "unit_attributes",
            f"records of {method.id} are no unit's, to which its value could be copied",
            "leave it out, or choose laplace or pram",
        )


def _synthetic(request: "Request") -> Iterator[RequestError]:
    """Refuse what only a new table can have, and what it cannot."""
    method = request.method
    if request.delta and "delta" not in method.can:
        yield RequestError(
            "delta",
            f"{method.id} keeps its epsilon without a delta",
            f"leave it out, or choose {_able(lambda one: 'delta' in one.can)}",
        )
    if "new table" in method.can and request.missing == "keep":
        yield RequestError(
            "missing",
            f"rows of {method.id} are nobody's: no cell of theirs could be kept missing",
            "pass missing='protect' (--missing protect)",
        )
    for name in request.keep if "new table" in method.can else ():
        yield RequestError(
            f"column '{name}'",
            f"rows of {method.id} are nobody's: no column can be kept beside them",
            "name it among the attributes, or leave it out",
        )


def _record_rules(request: "Request") -> Iterator[RequestError]:
    """Refuse rules of records where records are people's, and what is computed as a target."""
    if request["rules"] and not request.method.uses("rules"):
        yield RequestError(
            "rules",
            f"{request.method.id} changes column by column what people said, and cannot keep rules "
            "between columns",
            f"choose {_able(lambda one: one.uses('rules'))}, or leave them out: assess --rule "
            "counts the records that break one",
        )


def _missing(request: "Request") -> Iterator[RequestError]:
    """Refuse what a method cannot do with missing cells, and reasons that cannot be."""
    method = request.method
    if request.missing == "protect" and "missing" not in method.can:
        yield RequestError(
            "missing",
            f"{method.id} cannot hide which cells are missing",
            f"choose {_able(lambda one: 'missing' in one.can)}, or pass missing='keep' "
            "(--missing keep)",
        )
    if request.never_missing and request.missing == "keep" and method.uses("blocks"):
        yield RequestError(
            "never_missing",
            f"{method.id} releases all cells of a record that lacks a value as missing, "
            "those of other columns too",
            "leave it out, or choose a method that takes attributes one by one",
        )
    if not request.missing_reasons:
        return
    if not request.missing_codes or request.missing == "error":
        yield RequestError(
            "missing_reasons",
            "reasons are codes of cells that are missing, and there are none to write: "
            + ("no cell may be missing" if request.missing_codes else "no codes are declared"),
            "pass missing_codes={'INCOME': [-9]} (--missing-codes INCOME=-9) and "
            "missing='keep' (--missing keep)",
        )
    if request.missing == "protect" and "reasons" not in method.can:
        yield RequestError(
            "missing_reasons",
            f"{method.id} hides which cells are missing, and cannot keep apart why",
            f"leave it out, or choose {_able(lambda one: 'reasons' in one.can)}; the code of an "
            "attribute with categories can be listed among them instead",
        )


# Each with the arguments that it looks at: where one of them is wrong by itself it has no say.
RULES: tuple[tuple[tuple[str, ...], Callable[["Request"], Iterator[RequestError]]], ...] = (
    (("isotonic",), _isotonic),
    (("record_id", "engine"), _record_id),
    (("scope", "looked_at"), lambda request: refused_looked_at(request.scope, request.looked_at)),
    (("attributes", "keep"), lambda request: refused_twice(request.attributes or (), request.keep)),
    (("bounds", "categories"), _domains),
    (("unit", "max_rows", "unit_attributes", "attributes", "keep"), _unit),
    (("shuffle", "keep"), lambda request: refused_shuffle(request.shuffle, request.keep)),
    (("delta", "missing", "keep"), _synthetic),
    (("rules",), _record_rules),
    (("missing", "never_missing", "missing_codes", "missing_reasons"), _missing),
)
