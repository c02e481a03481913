"""The words of a proposed recipe: what stands before its columns, and what is said of one.

A remark on a column is a comment, as it stands behind a line of the recipe, and a sentence, which
is read by itself where there is no recipe to be seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from microveil.guarantee import Scope
from microveil.schema import GivenCode, Kind

__all__ = ["Remark"]  # and all that is said: it is read as `remarks.WEIGHT`

HEADER = """\
# A recipe for microveil, proposed from the columns of {source}. Please confirm every line.
#
# role        identifier        left out of the release
#             quasi-identifier  known to others, helps to find a person: protected
#             confidential      to be protected
#             weight            of a survey, left out; "confidential" with bounds protects it like
#                               any number
{kept}\
# type        what the column must hold, now and at every later run
# resolution  the step to which values are rounded, 0.01 for cents
# bounds      the domain of the values as it is publicly known: a fact about the attribute,
#             never the smallest and largest value of the table, which would give two people
#             away. For you to fill in, in place of the dots.
# missing_codes  values that stand for a missing one, -9 or "refused"; missing_values above, for
#             every column: ["NA", "."]
# categories  of text, and of numbers that are codes: every one that there is, as publicly known;
#             with ordered = true where they are listed in an order that means something.

microveil = "0.2"        # the version that this recipe was written for
"""
KEPT = """\
#             non-confidential  released exactly as it is; weights too, if they are declared public:
#                               they can show a person's stratum, and so help to find the person
"""
# How a file is written, so that the recipe alone says how to read the next one.
FILE = """
[file]                   # how the file is written; --separator, --decimal, --encoding go before it
{entries}
"""
FOLLOWS = """\
# Each row of the release follows a person, and row scope is not covered: protect prints how many
# are found again. microveil inspect --scope row proposes a new table, whose rows are nobody's.
"""
# How a request for means of people alike ends.
ENDING = """\
outside = "error"        # or "clamp": move values outside the bounds to the nearer one
{missing}\
exact_cells = "widen"    # clusters of equal values are merged with their neighbours; or "refuse",
                         # or "allow": publish them as they are
isotonic = false
shuffle = false          # or "rows"; "columns": each attribute by itself, in random order
# population = "..."     # who the people are: a ledger then counts all releases of theirs
"""
PARTS = """\

# [[parts]]              # in place of method, k and epsilon: methods for attributes of their own,
# attributes = ["..."]   # each with its method, k and epsilon; as many as there are kinds
"""
# By whether cells without a value were seen.
MISSING = {
    False: 'missing = "error"        # or "keep": release missing cells as missing\n',
    True: 'missing = "keep"         # cells without a value, seen in the data, stay missing; or '
    '"error": refuse\n',
}
# Of a new table nothing may hang on what was seen but what a person confirms.
MISSING_FOR_ROWS = {
    False: """\
missing = "error"        # or "protect": having no value is then a value like another
""",
    True: """\
missing = "error"        # cells without a value were seen in the data: write "protect", by which
                         # having no value is a value like another, or complete them
""",
}
# What bounds of a kind look like; a person who fills them in looks at the line.
BOUNDS = {
    Kind.WHOLE: "# bounds = [..., ...]       # whole numbers, as [0, 120] of ages",
    Kind.DECIMAL: "# bounds = [..., ...]       # numbers, as [0, 500000] of yearly incomes",
    Kind.DATE: "# bounds = [..., ...]       # dates, as [1900-01-01, 2030-12-31] of births",
}
UNIT = """\
# unit = {name}     # its values repeat like the numbers of people or households: mdav, v-mdav and
                         # mdav-insensitive then count people and not records; laplace, pram and
                         # dp-synthetic protect all records of one together
# max_rows = ...         # how many records one has at most, as publicly known (laplace, pram,
                         # dp-synthetic)
# unit_attributes = [...]  # those that all records of one have alike, as the region of a household:
                         # drawn once and copied (laplace, pram)
"""
# What is asked for by scope; None where none was named.
REQUESTS: Mapping[Scope | None, str] = {
    None: f"""\
method = "idp-cbls"
k = 10
epsilon = 1.0
{ENDING}""",
    Scope.CLUSTER: f"""\
{FOLLOWS}\
method = "idp-cbls"      # means of people alike, with the least noise: fitted to the clusters
scope = "cluster"        # what the epsilon must cover, or the request is refused
k = 10                   # how many people share a value at least
epsilon = 1.0
{ENDING}""",
    Scope.VECTOR: f"""\
{FOLLOWS}\
method = "idp-vector"    # means of people alike; one epsilon is shared out over all clusters
partition = "noise-aware" # clusters where they need least noise; or "ranking", all of one size
scope = "vector"         # what the epsilon must cover, or the request is refused
k = 3                    # how many people share a value at least
epsilon = 1.0
{ENDING}""",
    Scope.ROW: """\
method = "dp-synthetic"  # a new table, drawn from noisy counts: its rows are nobody's
scope = "row"            # what the epsilon must cover, or the request is refused
epsilon = 1.0            # where that is too little for the table, protect says what would do
delta = 1e-9             # what epsilon does not bound has at most this probability: stay far
                         # below 1/n, n the number of records. Take the line out for pure
                         # differential privacy (delta 0), which keeps less of the table.
outside = "clamp"        # move values outside the bounds to the nearer one; or "error": refuse,
                         # which shows that there are some
{missing}\
# target = "..."         # the attribute that the others are to predict, if there is one
# population = "..."     # who the people are: a ledger then counts all releases of theirs
""",
}

# Of a code list so many codes are read out in a sentence.
MOST_READ = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """What is said of a column: in a recipe, and by itself, where no entry of one is named."""

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
    return Remark(comment=clause, sentence=f"{clause[:1].upper()}{clause[1:]}.")


def missing_cells(n_missing: int, n_records: int) -> Remark:
    """Say how many cells have no value."""
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
    """Say how many values look like codes for missing ones; never which."""
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
    """Say how many values text has; never which."""
    return Remark(
        comment="seen in the data: confirm, and add what there is besides"
        if are_shown
        else f"different values seen in the data: {n_categories}",
        sentence="All cells with a value hold the same one."
        if n_categories == 1
        else f"{n_categories} different values were seen in the table.",
    )


def code_list(codes: Mapping[GivenCode, str]) -> Remark:
    """Say which codes the file lists for a column, and what they stand for."""
    read: Sequence[str] = [f"{code} {label}" for code, label in codes.items()]
    shown = ", ".join(read[:MOST_READ])
    more = f" and {len(read) - MOST_READ} more" if len(read) > MOST_READ else ""
    return Remark(
        comment="the file's code list: confirm that it is publicly known",
        sentence=f"The file has a code list: {shown}{more}. Confirm that it is publicly known.",
    )
