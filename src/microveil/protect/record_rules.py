"""Rules that drawn records are to keep, held against the request: each yields what is wrong."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from microveil.errors import Problems, RequestError
from microveil.protect.request import Request
from microveil.schema import Attribute
from microveil.synthesis.clauses import clauses_of, computed_by
from microveil.synthesis.possible import some_record
from microveil.table import Table
from microveil.table.record_rules import Comparison, RecordRule, kind_in_rules, parse_rule

CONFLICT = "no record of the declared domains can hold it"


def check_record_rules(
    table: Table,
    request: Request,
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
    computed: Mapping[str, RecordRule], known: Mapping[str, Attribute], request: Request
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
