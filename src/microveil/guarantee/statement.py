"""The guarantee as a page for people: first what it means, then what it is conditional on."""

import math
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import TYPE_CHECKING, NamedTuple

from microveil.guarantee.condition import Condition
from microveil.guarantee.model import Model
from microveil.guarantee.scope import EVERY_SCOPE, Cover, Scope, rounded_up, six_digits
from microveil.text import one_line
from microveil.text.document import (
    Block,
    Code,
    Document,
    Items,
    Paragraph,
    Part,
    Strong,
    Tabulated,
    heading,
    items,
    paragraph,
    tabulated,
)

if TYPE_CHECKING:
    from microveil.guarantee.guarantee import Guarantee
    from microveil.guarantee.terms import AttributeTerms

__all__ = ["COMPUTATIONAL", "statement_of"]

# What is to be known of an epsilon whose randomness is keyed, in a few words and in whole ones.
COMPUTATIONAL = "as far as nobody can tell ChaCha20 from chance (a computational claim)"
_DRAWN = "What was drawn for a record"
_JITTER = "The jitter that spread equal values, drawn for each record of the original,"
_COMPUTATIONAL = (
    "The claim is a computational one. {drawn} is a function of its number and of a secret key of "
    "256 bits, so that a step that was carried out twice drew nothing anew. The bound is proved of "
    "draws by chance, and holds of these for whoever cannot tell ChaCha20's stream from chance "
    "without the key, which nobody is known to be able to. The key came from the operating "
    "system, served this release alone, and was destroyed once it was drawn."
)

# Beyond this factor an epsilon says nothing to anybody: e**14 is over a million.
MEANINGLESS = 14.0


def statement_of(guarantee: "Guarantee") -> Document:
    """Return the statement of a guarantee: all that it says follows from the value."""
    spends = guarantee.epsilon is not None
    return Document(
        (
            heading(1, "What this release guarantees"),
            *_warnings(guarantee),
            _what_was_done(guarantee),
            *(_meaning(guarantee) if spends else ()),
            *_parts(guarantee),
            heading(2, "What the epsilon covers" if spends else "What is promised"),
            *(_scopes(guarantee) if spends else (_no_epsilon(guarantee),)),
            heading(2, "What this is conditional on, and leaves out"),
            _conditions(guarantee),
            heading(2, "Protected attributes"),
            _attributes(guarantee),
            heading(2, "Columns released unprotected"),
            _kept(guarantee),
            heading(2, "What else is to be known"),
            items(guarantee.remarks),
        )
    )


def _warnings(guarantee: "Guarantee") -> list[Paragraph]:
    """Say first what nobody may overlook."""
    if guarantee.randomness == "seeded":
        return [
            paragraph(
                Strong("This release protects nobody."),
                " Its randomness came from a seed, for an "
                "experiment: whoever knows or guesses the seed can take the noise off again. Do "
                "not publish it.",
            )
        ]
    if guarantee.follows_individuals:
        within = "Within a part each" if guarantee.shuffle == "parts" else "Each"
        return [
            paragraph(
                Strong("The rows of this release are not covered."),
                f" {within} row follows one person. What "
                "is promised below is promised of the published values by themselves, not of "
                "which of them stand in one row, or which rows share a value.",
            )
        ]
    if guarantee.leaves_rows_out and guarantee.is_synthetic:
        return [
            paragraph(
                Strong("Row scope is not covered."),
                " The rows were drawn anew, so that none is a person's. But the release shows "
                "what was read from the data.",
            )
        ]
    if guarantee.leaves_rows_out:
        return [
            paragraph(
                Strong("Row scope is not covered."),
                " Each attribute was put in a random order of its "
                "own, so that no row is a person's. But the release shows more than its values by "
                "themselves: what was chosen from the data, or how clusters follow from it.",
            )
        ]
    return []


def _what_was_done(guarantee: "Guarantee") -> Paragraph:
    model = guarantee.model_in_words
    if guarantee.randomness == "seeded":
        model = "none in force, for want of randomness"
    budget = "."
    if guarantee.epsilon is not None:
        whole = any(terms.share is None for terms in guarantee.attributes)
        budget = (
            f" with a budget (epsilon) of {six_digits(guarantee.epsilon)}"
            f"{_delta(guarantee)}, {'spent on' if whole else 'divided among'} "
            f"{_count(len(guarantee.attributes), 'attribute')}{' together' if whole else ''}."
        )
    size = f" of {_count(guarantee.n_records, 'record')}" if guarantee.n_records else ""
    sentences = (
        f": {guarantee.title}{_published(guarantee.source)}.",
        guarantee.deed,
        f"The privacy model is {model}{budget}",
    )
    return paragraph(
        f"A table{size} was protected by ",
        Code(guarantee.method),
        " ".join(filter(None, sentences)),
    )


def _parts(guarantee: "Guarantee") -> list[Block]:
    """Say of several parts what each did, and in which model."""
    if not guarantee.parts:
        return []
    is_seeded = guarantee.randomness == "seeded"
    rows = [
        (
            part.named,
            Code(part.method),
            "none in force" if is_seeded else part.model.in_words,
            "none" if part.epsilon is None else six_digits(part.epsilon),
            "" if part.k is None else str(part.k),
            _ORDER_OF_PART[part.shuffle],
        )
        for part in guarantee.parts
    ]
    spends = guarantee.epsilon is not None
    deeds = [
        (Strong(f"{part.named}."), f" {part.title}{_published(part.source)}. {part.deed}".rstrip())
        for part in guarantee.parts
    ]
    return [
        heading(2, "Its parts"),
        paragraph(
            "Each part was protected by itself."
            + ("" if is_seeded else _ADD_UP if spends else _NOTHING_TOGETHER)
        ),
        tabulated(("attributes", "method", "model", "epsilon", "k", "rows"), rows),
        items(deeds),
    ]


def _published(source: str) -> str:
    return f" ({source})" if source else ""


_ADD_UP = (
    " A person's values can be seen in all of them: at each scope their epsilons add up, and what "
    "one of them does not cover, the release does not. What others put into a row counts as a "
    "column beside it."
)
_NOTHING_TOGETHER = (
    " At least one of them spends no epsilon, and its columns stand beside the others': nothing "
    "formal is promised of the release, and no epsilon in this table is a bound on it."
)
_ORDER_OF_PART = {
    None: "as the whole table's",
    "rows": "in a random order of their own",
    "columns": "each attribute in a random order of its own",
}


def _delta(guarantee: "Guarantee") -> str:
    if not guarantee.delta:
        return ""
    return f" and a delta of {six_digits(guarantee.delta)}"


def _meaning(guarantee: "Guarantee") -> list[Paragraph]:
    """Say what the epsilon means: of the program, or of a mechanism that holds what is given."""
    if guarantee.randomness == "seeded" or guarantee.epsilon is None:
        return []
    epsilon = rounded_up(guarantee.epsilon)
    factor = f"the factor e^epsilon ({_factor(epsilon)} for {six_digits(guarantee.epsilon)})"
    apart = (
        f", but for events of probability {six_digits(guarantee.delta)} in all"
        if guarantee.delta
        else ""
    )
    closing = (
        "A factor near 1 protects well; a large one hardly at all. What exactly is compared is the "
        "scope, and it decides what the number is worth."
    )
    given = [condition for condition in guarantee.conditions if condition.is_given]
    drawn = _JITTER if guarantee.is_synthetic else _DRAWN
    words_of_key = _COMPUTATIONAL.format(drawn=drawn)
    computational = [paragraph(words_of_key)] if guarantee.is_computational else []
    words = _OF_UNIT if guarantee.unit.column is not None else _OF_RECORD
    protected, whose = "what is protected of " if guarantee.kept else "", guarantee.unit.named
    # How many records a unit has is no figure of the mechanism: its neighbours have as many.
    ids = {condition.id for condition in given}
    if ids <= {"unit-sizes", "labels"}:
        alike = " and the labels stayed the same" if "labels" in ids else ""
        return [
            paragraph(
                f"An epsilon bounds what the release can reveal about {words.one.format(whose)}, "
                "at the scopes that the next table names: if "
                f"{protected}{words.replaced}{alike}, nothing seen at such a scope "
                "would become more or less likely by more than "
                f"{factor}{apart}. {closing}"
            ),
            *computational,
        ]
    held = _enumerated(list(dict.fromkeys(condition.short for condition in given)))
    return [
        paragraph(
            f"An epsilon is a bound on what {words.change.format(whose)} can change. This one is "
            f"conditional: it takes {held} of this table as given, the same whoever is in it. Of a "
            "mechanism that holds them it is true, at the scopes that the next table names, "
            f"that nothing seen becomes more or less likely by more than {factor}{apart} if "
            f"{protected}{words.are_replaced}. It is not true of the program that made this "
            f"release: run on the table with {words.once_replaced}, it would not hold them but "
            f"take them from that table, and the difference can be seen. {closing}"
        ),
        *computational,
    ]


class _Words(NamedTuple):
    """How the meaning of an epsilon speaks of whoever is protected."""

    one: str
    replaced: str
    change: str
    are_replaced: str
    once_replaced: str


_OF_RECORD = _Words(
    one="one person",
    replaced="that person's record were replaced by any other",
    change="one person's record",
    are_replaced="one record is replaced by any other",
    once_replaced="that record replaced",
)
_OF_UNIT = _Words(
    one="one unit, all records with one value of {}",
    replaced="the records of that unit were all replaced by as many others",
    change="the records of one unit ({})",
    are_replaced="all records of one unit are replaced by as many others",
    once_replaced="those records replaced",
)


def _no_epsilon(guarantee: "Guarantee") -> Paragraph:
    if guarantee.model is Model.K_ANONYMITY:
        return paragraph(
            "Whoever looks for a person by the protected attributes finds "
            f"{guarantee.unit.shared_by(guarantee.k or 0)} that fit equally well. That hides "
            "which row is whose. It does not hide what the rows of such a group have in common, "
            "and it bounds nothing for an intruder who knows more. No epsilon is claimed at any "
            "scope."
        )
    return paragraph(
        "Nothing formal: no epsilon at any scope and no k-anonymity of records. What the "
        "method does is said below; how well it hides people in this table has to be "
        "measured, by an assessment of the release against the original."
    )


def _scopes(guarantee: "Guarantee") -> list[Block]:
    covers = tabulated(
        ("scope", "what is compared", "covered", "epsilon", "factor"),
        (_scope(scope, cover, guarantee) for scope, cover in guarantee.scopes.by_scope.items()),
    )
    if not guarantee.has_clusters:
        return [covers]
    blocks: list[Block] = [covers]
    vector, budget = guarantee.scopes.vector.exact_epsilon, guarantee.epsilon
    if vector is not None and budget is not None and MEANINGLESS < vector != budget:
        blocks.append(
            paragraph(
                "At vector scope the epsilon is a bound that needs no data and is far too large to "
                "protect anybody by itself: what protects there is the mixing of values within "
                "clusters, for which there is no formal promise."
            )
        )
    if guarantee.follows_individuals and guarantee.randomness != "seeded":
        blocks.append(
            paragraph(
                "Row scope is not covered: rows that carry the same value of an attribute show "
                "which people lie close together in it, whatever the epsilon."
            )
        )
    return blocks


def _scope(scope: Scope, cover: Cover, guarantee: "Guarantee") -> list[Part]:
    meaning = scope.compared(
        is_synthetic=guarantee.is_synthetic, is_of_unit=guarantee.unit.column is not None
    )
    if cover.exact_epsilon is None:
        return [str(scope), meaning, Strong("no"), "none", "no bound"]
    factor = _factor(rounded_up(cover.exact_epsilon))
    return [str(scope), meaning, "yes", six_digits(cover.exact_epsilon), factor]


def _conditions(guarantee: "Guarantee") -> Paragraph | Items:
    if not guarantee.conditions:
        return paragraph("Nothing.")
    spends = guarantee.epsilon is not None
    return items(
        (Strong(f"{_head(condition, spends=spends)}."), f" {condition.text}")
        for condition in guarantee.conditions
    )


def _head(condition: Condition, *, spends: bool) -> str:
    """Name a condition, and the scopes that it bears on where these are not all."""
    head = condition.clause[0].upper() + condition.clause[1:]
    if not spends or condition.scopes == EVERY_SCOPE:
        return head
    return f"{head}, at {_enumerated([scope.value for scope in condition.scopes])} scope"


def _attributes(guarantee: "Guarantee") -> Tabulated:
    rows = []
    for terms in guarantee.attributes:
        none = "none" if guarantee.epsilon is None else "none of its own"
        share = none if terms.share is None else six_digits(terms.share)
        step = "" if terms.resolution is None else f"{terms.resolution}, "
        rows.append(
            (
                terms.name,
                share,
                f"{_domain(terms)}{terms.domain_source}",
                f"{step}{terms.resolution_source}",
            )
        )
    return tabulated(("attribute", "share of epsilon", "domain", "resolution"), rows)


def _domain(terms: "AttributeTerms") -> str:
    if terms.domain is None:
        return ""
    if not terms.kind.is_numeric:
        return f"{', '.join(map(str, terms.domain))}, "
    lower, upper = terms.domain
    return f"{lower} to {upper}, "


def _kept(guarantee: "Guarantee") -> Paragraph:
    if not guarantee.kept:
        return paragraph("None.")
    names = ", ".join(map(one_line, guarantee.kept))
    return paragraph(
        f"{names}. They are in the release exactly as in the original (but for an apostrophe "
        "before text that a spreadsheet would run, where that was asked for). Nothing above "
        "holds for "
        "them, and they may help to find a person in the other columns."
    )


def _enumerated(parts: list[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def _factor(epsilon: float) -> str:
    if epsilon > MEANINGLESS:
        return "over a million"
    with localcontext() as context:
        context.prec, context.rounding = (3 if epsilon >= 0.1 else 5), ROUND_CEILING
        return f"{+Decimal(repr(math.exp(epsilon))):f}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
