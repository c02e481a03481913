"""The words of a proposed recipe: what is said of a column; recipe.jinja has what comes before.

A remark on a column is a comment, as it stands behind a line of the recipe, and a sentence, which
is read by itself where there is no recipe to be seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from microveil.schema import GivenCode, Kind

# What a domain and a step look like; a person who fills them in looks at the line.
BOUNDS = {
    Kind.WHOLE: "# bounds = [..., ...]       # whole numbers, as [0, 120] of ages",
    Kind.DECIMAL: "# bounds = [..., ...]       # numbers, as [0, 500000] of yearly incomes",
    Kind.DATE: "# bounds = [..., ...]       # dates, as [1900-01-01, 2030-12-31] of births",
}
RESOLUTION = (
    "# resolution = ...          # the step to round to, as 0.01 for cents, 1 for whole ones"
)
CATEGORIES = "# categories = [...]        # every one that there is, as publicly known"

# Of a code list so many codes are read out in a sentence.
MOST_READ = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """What is said of a column: behind a line of a recipe, and by itself as a sentence.

    What was seen in the values stands in no recipe, unless values are asked for. What is notable
    is said on the terminal too.
    """

    comment: str
    said: str = ""  # where another sentence is needed
    is_seen: bool = False
    is_notable: bool = False

    @property
    def sentence(self) -> str:
        """What is read where there is no recipe to be seen."""
        return self.said or f"{self.comment[:1].upper()}{self.comment[1:]}."


WEIGHT = Remark(
    comment='by its name: confirm; the weight of a body is "confidential"',
    said="By its name it is the weight of a survey. The weight of a body is confidential.",
)
BODY_WEIGHT = Remark(
    comment='the weight of a body, by its name or range: of a survey it is "weight"',
    said="By its name, its range or the columns beside it, it is the weight of a body. That of a "
    "survey has the role weight.",
    is_notable=True,
)
COORDINATE = Remark(comment="by its name it shows where somebody lives")
BIRTH = Remark(comment="by its name it says when somebody was born")
NOT_ASKED = Remark(comment="it is not among the attributes that were asked for: left out")
NUMBERS_IDENTIFY = Remark(
    comment='a number given to people? If it is none, "confidential"',
    said="All values are whole numbers and differ, like numbers that are given to people. If they "
    "are no such numbers, the column is confidential.",
)
PERSON_NUMBERS = Remark(
    comment='named like a person\'s number: if it is none, "confidential"',
    said="It is named like a person's number. If it is none, the column is confidential.",
)
UNIT_NUMBERS = Remark(comment="says which records belong together: see unit")
TEXT_NAMES = Remark(
    comment='named like names, addresses or free text: if it is none, "quasi-identifier"',
    said="By its name it holds names, addresses or free text, which say who somebody is.",
)
TEXT_IDENTIFIES = Remark(comment="text that may name people: left out")
NO_NUMBER = Remark(
    comment='no number: left out unless "non-confidential"',
    said="It holds no numbers: without a list of its categories it cannot be protected.",
)
UNLISTED = Remark(comment="left out until its categories are listed")
LEARNT = Remark(comment="learnt within the budget, unless its categories are listed")
KIND_LEARNT = Remark(comment="likely; learnt within the budget, unless it is stated")
NEITHER = Remark(comment="neither numbers nor categories: left out")
DECIMALS_SEEN = Remark(comment="decimals seen in the data: confirm", is_seen=True)
WHOLE_SEEN = Remark(comment="only whole numbers seen in the data: confirm", is_seen=True)
LIST_ORDERED = Remark(comment="by the file its order means something")
LIST_LACKS_VALUES = Remark(
    comment="the column has values that this list lacks: complete it, or declare bounds",
    said="The column has values that the file's code list lacks: complete it, or declare bounds.",
    is_seen=True,
    is_notable=True,
)


def no_order(method: str) -> Remark:
    """Say why a column of codes is left out."""
    return Remark(
        comment=f"codes in no order, which {method} cannot take: left out",
        said=f"The file lists its codes in no order, and {method} ranks values or calculates with "
        "them: it is left out.",
        is_notable=True,
    )


def likely_codes(n_codes: int) -> Remark:
    """Say how many values look like codes for missing ones; never which."""
    look = "1 value looks" if n_codes == 1 else f"{n_codes} different values look"
    return Remark(
        comment="seen in the data, look like codes for missing values: confirm",
        said=f"{look} like {'a code' if n_codes == 1 else 'codes'} for missing values.",
        is_seen=True,
        is_notable=True,
    )


def values_seen(n_values: int, *, are_shown: bool) -> Remark:
    """Say how many different values a column has; never which."""
    more = ": confirm, and add what there is besides" if are_shown else ""
    return Remark(comment=f"{n_values} different values seen in the data{more}", is_seen=True)


def code_list(codes: Mapping[GivenCode, str]) -> Remark:
    """Say which codes the file lists for a column, and what they stand for."""
    read: Sequence[str] = [f"{code} {label}" for code, label in codes.items()]
    shown = ", ".join(read[:MOST_READ])
    more = f" and {len(read) - MOST_READ} more" if len(read) > MOST_READ else ""
    return Remark(comment=f"by the file: {shown}{more}")
