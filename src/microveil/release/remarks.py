"""What is said of a column that a recipe is proposed for, in words that are declared here once.

Each remark is a comment, as it stands behind a line of the recipe, and a sentence, which is read by
itself where there is no recipe to be seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from microveil.schema import GivenCode

__all__ = [
    "DECIMALS_SEEN",
    "LIST_LACKS_VALUES",
    "LIST_ORDERED",
    "NEITHER",
    "NO_NUMBER",
    "NUMBERS_IDENTIFY",
    "PERSON_NUMBERS",
    "TEXT_IDENTIFIES",
    "UNIT_NUMBERS",
    "UNLISTED",
    "WEIGHT",
    "WHOLE_SEEN",
    "Remark",
    "categories_seen_of",
    "code_list",
    "codes_of_file",
    "likely_codes",
    "looks_like",
    "missing_cells",
    "titled",
]

# Of a code list so many codes are read out in a sentence.
MOST_READ = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """What is said of a column.

    Attributes
    ----------
    comment : str
        As it stands in a recipe.
    sentence : str
        As it is read by itself: it names no entry of a recipe.
    """

    comment: str
    sentence: str


WEIGHT = Remark(
    comment='by its name: confirm; the weight of a body is "confidential"',
    sentence="By its name it is the weight of a survey. The weight of a body is confidential.",
)
NUMBERS_IDENTIFY = Remark(
    comment='whole numbers, all different: if it is none, "confidential"',
    sentence="All values are whole numbers and differ, like numbers that are given to people. If "
    "they are no such numbers, the column is confidential.",
)
PERSON_NUMBERS = Remark(
    comment='named like a person\'s number: if it is none, "confidential"',
    sentence="It is named like a person's number. If it is none, the column is confidential.",
)
UNIT_NUMBERS = Remark(
    comment="says which records belong together: see unit",
    sentence="Its values repeat like the numbers of households: it may say which records belong "
    "together.",
)
TEXT_IDENTIFIES = Remark(
    comment="text, all different: left out",
    sentence="It holds text, and all values differ, as names do.",
)
NO_NUMBER = Remark(
    comment='no number: left out unless "non-confidential"',
    sentence="It holds no numbers: without a list of its categories it cannot be protected.",
)
UNLISTED = Remark(
    comment="left out until its categories are listed",
    sentence="It is left out until its categories are listed.",
)
NEITHER = Remark(
    comment="neither numbers nor categories: left out",
    sentence="It holds neither numbers nor categories.",
)
DECIMALS_SEEN = Remark(
    comment="decimals seen in the data: confirm",
    sentence="The step that is proposed is that of the decimals seen in the table.",
)
WHOLE_SEEN = Remark(
    comment="only whole numbers seen in the data: confirm",
    sentence="Only whole numbers were seen in the table.",
)
LIST_ORDERED = Remark(
    comment="by the file: confirm the order of the list",
    sentence="The file says that its code list is in an order that means something.",
)
LIST_LACKS_VALUES = Remark(
    comment="the column has values that this list lacks: complete it, or declare bounds",
    sentence="The column has values that the file's code list lacks: complete it, or declare "
    "bounds.",
)


def titled(label: str) -> Remark:
    """Say what the file calls a column."""
    return Remark(comment=label, sentence=f"The file calls it: {label}.")


def looks_like(clause: str) -> Remark:
    """Say that text looks like numbers, by the clause of `numeric_look`."""
    return Remark(comment=clause, sentence=_sentence(clause))


def missing_cells(n_missing: int, n_records: int) -> Remark:
    """Say how many cells have no value.

    >>> missing_cells(1, 9).sentence
    '1 of 9 cells is missing.'
    """
    counted = f"{n_missing} of {n_records} cells"
    verb = "is" if n_missing == 1 else "are"
    return Remark(comment=f"{counted} are missing", sentence=f"{counted} {verb} missing.")


def codes_of_file(listed: str) -> Remark:
    """Say which codes stand for missing answers by the file."""
    return Remark(
        comment="of missing answers by the file: confirm",
        sentence=f"By the file these codes stand for missing answers: {listed}.",
    )


def likely_codes(n_codes: int, *, are_shown: bool) -> Remark:
    """Say how many values look like codes for missing ones; never which.

    >>> likely_codes(1, are_shown=False).sentence
    '1 value looks like a code for missing values.'
    """
    look = "look like codes for missing values: confirm"
    return Remark(
        comment=f"seen in the data, {look}"
        if are_shown
        else f"different values that {look}: {n_codes}",
        sentence="1 value looks like a code for missing values."
        if n_codes == 1
        else f"{n_codes} different values look like codes for missing values.",
    )


def categories_seen_of(n_categories: int, *, are_shown: bool) -> Remark:
    """Say how many values text has; never which.

    >>> categories_seen_of(2, are_shown=False).sentence
    '2 different values were seen in the table.'
    """
    return Remark(
        comment="seen in the data: confirm, and add what there is besides"
        if are_shown
        else f"different values seen in the data: {n_categories}",
        sentence="All cells with a value hold the same one."
        if n_categories == 1
        else f"{n_categories} different values were seen in the table.",
    )


def code_list(codes: Mapping[GivenCode, str]) -> Remark:
    """Say which codes the file lists for a column, and what they stand for.

    >>> code_list({1: "male", 2: "female"}).sentence
    'The file has a code list: 1 male, 2 female. Confirm that it is publicly known.'
    """
    read: Sequence[str] = [f"{code} {label}" for code, label in codes.items()]
    shown = ", ".join(read[:MOST_READ])
    more = f" and {len(read) - MOST_READ} more" if len(read) > MOST_READ else ""
    return Remark(
        comment="the file's code list: confirm that it is publicly known",
        sentence=f"The file has a code list: {shown}{more}. Confirm that it is publicly known.",
    )


def _sentence(clause: str) -> str:
    return f"{clause[:1].upper()}{clause[1:]}."
