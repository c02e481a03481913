"""What arguments must keep beside each other and the method, and rules of records beside domains.

Each yields what is wrong.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from microveil.errors import Problems, RequestError
from microveil.guarantee import Scope
from microveil.methods import METHODS, Method
from microveil.schema import Attribute
from microveil.synthesis.clauses import clauses_of, computed_by
from microveil.synthesis.possible import some_record
from microveil.table import Table
from microveil.table.record_rules import Comparison, RecordRule, kind_in_rules, parse_rule

if TYPE_CHECKING:
    from microveil.protect.request import Request

CONFLICT = "no record of the declared domains can hold it"


def _able(is_able: Callable[[Method], bool]) -> str:
    return ", ".join(method.id for method in METHODS.values() if is_able(method))


def refused_for_all(
    scope: str | None,
    looked_at: str | None,
    attributes: Iterable[str] = (),
    keep: Collection[str] = (),
    shuffle: str | None = None,
) -> Iterator[RequestError]:
    """Refuse what cannot be said together of a table, of several parts too."""
    if scope == Scope.ROW and looked_at == "data":
        # Another table might have led to another choice, which is published.
        yield RequestError(
            "looked_at",
            "at row scope method, k and epsilon must not be chosen by figures that come from the "
            "data: what was chosen would hang on them",
            "choose them anew by public figures, by an earlier table or by invented people, or ask "
            "for a weaker scope",
        )
    for name in sorted({*attributes} & {*keep}):
        rule = "it is both to be protected and to be kept"
        yield RequestError(f"column '{name}'", rule, "name it once")
    if shuffle == "columns" and keep:
        yield RequestError(
            "shuffle",
            "columns that are kept would stand beside values of other people once each "
            "attribute is shuffled by itself",
            "leave out keep, or shuffle the rows",
        )


def broken_rules(request: "Request", bad: Collection[str]) -> Iterator[RequestError]:
    """Refuse what arguments must not say beside each other, or of the method.

    Those that are ``bad`` by themselves are at their defaults, by which no rule may be broken.
    """
    method = request.method
    if request.isotonic and "isotonic" not in method.can:
        yield RequestError(
            "isotonic",
            f"{method.id} has no noisy clusters in ascending order to put in order",
            "leave it out, or choose a method that clusters by rank and draws noise",
        )
    if request.record_id is not None and request.engine != "spark" and "engine" not in bad:
        yield RequestError(
            "record_id",
            "rows that are in an order need none: it is for a table of Spark's",
            "leave it out, or pass a frame of Spark's (--spark)",
        )
    yield from refused_for_all(
        request.scope, request.looked_at, request.attributes or (), request.keep, request.shuffle
    )
    for name in sorted(request.bounds.keys() & request.categories.keys()):
        yield RequestError(
            f"domain of '{name}'",
            "bounds and categories are both given, and an attribute has one domain",
            "leave one of them out",
        )
    if (request.unit or request.max_rows or request.unit_attributes) and "unit" not in bad:
        yield from _of_unit(request, bad)
    if request.delta and "delta" not in method.can:
        yield RequestError(
            "delta",
            f"{method.id} keeps its epsilon without a delta",
            f"leave it out, or choose {_able(lambda one: 'delta' in one.can)}",
        )
    for name in request.keep if "new table" in method.can else ():
        yield RequestError(
            f"column '{name}'",
            f"rows of {method.id} are nobody's: no column can be kept beside them",
            "name it among the attributes, or leave it out",
        )
    if request["rules"] and not method.uses("rules"):
        yield RequestError(
            "rules",
            f"{method.id} changes column by column what people said, and cannot keep rules "
            "between columns",
            f"choose {_able(lambda one: one.uses('rules'))}, or leave them out: assess --rule "
            "counts the records that break one",
        )
    if (request.missing != "error" or request.missing_reasons) and "missing" not in bad:
        yield from _of_missing(request, bad)


def _of_unit(request: "Request", bad: Collection[str]) -> Iterator[RequestError]:
    """Refuse what is said of the records of a unit where none is named, or none can be."""
    method = request.method
    if request.unit is None:
        for name in ("max_rows", "unit_attributes"):
            if getattr(request, name) and (name, request.max_rows) != ("max_rows", 1):
                yield RequestError(
                    name,
                    "it says what the records of one unit are, and no unit is named",
                    "name its column, for example unit='HOUSEHOLD' (--unit HOUSEHOLD), or leave it "
                    "out; max_rows=1 alone says that each record is another person's",
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
    if "units" not in method.can and request.max_rows is None and "max_rows" not in bad:
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


def _of_missing(request: "Request", bad: Collection[str]) -> Iterator[RequestError]:
    """Refuse what a method cannot do with missing cells, and reasons that cannot be."""
    method = request.method
    if request.missing == "keep" and "new table" in method.can:
        yield RequestError(
            "missing",
            f"rows of {method.id} are nobody's: no cell of theirs could be kept missing",
            "pass missing='protect' (--missing protect)",
        )
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
    has_codes = bool(request.missing_codes) or "missing_codes" in bad
    if not has_codes or request.missing == "error":
        yield RequestError(
            "missing_reasons",
            "reasons are codes of cells that are missing, and there are none to write: "
            + ("no cell may be missing" if has_codes else "no codes are declared"),
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


def check_record_rules(
    table: Table,
    request: "Request",
    names: Sequence[str],
    attributes: Sequence[Attribute],
    problems: Problems,
) -> None:
    """Note what is wrong with the rules of a request that protects columns of these names.

    ``attributes`` are those of them that are in order by themselves.
    """
    known = {attribute.name: attribute for attribute in attributes}
    kinds = {n: kind_in_rules(known[n]) if n in known else table.kind(n) for n in table.names}
    rules, before = list[RecordRule](), len(problems)
    for text in request["rules"]:
        with problems.noted():
            rule = parse_rule(text, kinds)
            problems.extend(_of_columns(rule, names, known))
            rules.append(rule)
    if len(problems) > before or not known.keys() >= {n for rule in rules for n in rule.columns}:
        return
    with problems.noted():
        computed = computed_by(rules, attributes)
        problems.extend(_of_computed(computed, known, request))
        drawn = [attribute for attribute in attributes if attribute.name not in computed]
        of_rules = [known[name] for name in computed]
        clauses_of(rules, drawn, of_rules)
        problems.extend(_of_conflicts(rules, drawn, of_rules))


def _of_columns(
    rule: RecordRule, names: Sequence[str], known: Mapping[str, Attribute]
) -> Iterator[RequestError]:
    """Refuse columns that are not released, and constants outside the domains of columns."""
    for name in rule.columns:
        if name not in names:
            yield RequestError(
                f"rule '{rule}'",
                f"'{name}' is not released",
                "name it among the attributes, or leave the rule out",
            )
    for own in (rule.condition, rule.comparison):
        attribute = None if own is None else known.get(own.column)
        if own is not None and attribute is not None and not own.others:
            yield from _of_constant(rule, own, attribute)


def _of_constant(rule: RecordRule, own: Comparison, attribute: Attribute) -> Iterator[RequestError]:
    constant, domain = own.constant, attribute.domain
    if domain is None:
        return
    if attribute.categories is not None and (isinstance(constant, str) or own.sign in ("=", "!=")):
        if constant not in attribute.categories.values:
            yield RequestError(
                f"rule '{rule}'",
                f"what it names is not in the list of categories of '{own.column}'",
                "correct it, or add it to the list",
            )
        return
    values = attribute.categories.values if attribute.categories is not None else ()
    ends = [Fraction(int(value)) for value in values if not isinstance(value, str)]
    if attribute.bounds is not None:
        ends = [attribute.bounds.lower, attribute.bounds.upper]
    if ends and not isinstance(constant, str) and not min(ends) <= constant <= max(ends):
        yield RequestError(
            f"rule '{rule}'",
            f"its constant lies outside the domain of '{own.column}'",
            "correct it, or declare wider bounds",
        )


def _of_computed(
    computed: Mapping[str, RecordRule], known: Mapping[str, Attribute], request: "Request"
) -> Iterator[RequestError]:
    """Refuse what cannot be computed: a target, or what never lacks a value of what may."""
    for name, rule in computed.items():
        others = [known[other] for other, _ in rule.comparison.others]
        lacks = [other.name for other in others if not other.never_missing]
        if request.missing == "protect" and known[name].never_missing and lacks:
            yield RequestError(
                f"rule '{rule}'",
                f"'{name}' never lacks a value, and what it is computed of may lack one",
                f"declare '{lacks[0]}' never missing too, or '{name}' not",
            )
        target = request["target"]
        if target is not None and target[0] == name:
            yield RequestError(
                f"rule '{rule}'",
                f"'{name}' is the target, and would be computed and not measured",
                "write the rule with another column on the left, or leave the target out",
            )


def _of_conflicts(
    rules: Sequence[RecordRule], drawn: Sequence[Attribute], computed: Sequence[Attribute]
) -> Iterator[RequestError]:
    """Refuse rules that no record can hold: by themselves, two together, or all."""

    def can_hold(some: Sequence[RecordRule]) -> bool:
        own = [one for one in computed if one.name in computed_by(some, [*drawn, *computed])]
        others = [*drawn, *(one for one in computed if one not in own)]
        return some_record(clauses_of(some, others, own)) is not None

    alone = [rule for rule in rules if not can_hold([rule])]
    for rule in alone:
        yield RequestError(f"rule '{rule}'", CONFLICT, "correct it, or the domains of its columns")
    rest = [rule for rule in rules if rule not in alone]
    if not rest or can_hold(rest):
        return
    remedy = "correct one of them, or leave it out"
    pairs = [pair for pair in combinations(rest, 2) if not can_hold(pair)]
    for rule, other in pairs:
        yield RequestError(f"rule '{rule}'", f"it contradicts the rule '{other}'", remedy)
    if not pairs:
        for rule in list(rest):  # what is left is contradictory, and nothing of it can be spared
            others = [one for one in rest if one != rule]
            rest = rest if can_hold(others) else others
        named = ", ".join(f"'{rule}'" for rule in rest)
        yield RequestError("rules", f"they contradict each other: {named}", remedy)
