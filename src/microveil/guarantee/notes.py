"""What a certificate says beside its conditions: how a release was made, and what adds up."""

from collections.abc import Sequence
from dataclasses import dataclass

from microveil.guarantee.model import Model
from microveil.guarantee.terms import Unit
from microveil.text import one_line

__all__ = [
    "FURTHER",
    "IN_ONE_STREAM",
    "KEYED",
    "KEYED_JITTER",
    "Circumstances",
    "handling",
    "remarks",
    "remarks_of_method",
    "remarks_of_release",
    "united",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What of a request bears on its guarantee, beside the method.

    Attributes
    ----------
    seeded, isotonic, clamps : bool
    drops : bool
        Whether records of a unit beyond its number were left out.
    unit : Unit
    of_unit : tuple of str
        Attributes that are one value a unit.
    missing : {"error", "keep", "protect"}
    never_missing : tuple of str
        Attributes that never lack a value, as declared.
    is_synthetic : bool
        Whether rows are nobody's.
    model : Model
    shuffle : {"rows", "columns"} or None
    apart : bool
        Whether the rows of one part alone are in random order, beside those of others.
    chosen_from_data : bool
        Whether the columns to protect were left to a look at the table.
    exact_cells : str or None
        "refuse", "allow" or "widen"; None where the method never publishes a cell exactly.
    randomness : tuple of str
        "laplace", "counts", "other": whatever is drawn; none where the method draws nothing.
    spends_epsilon : bool
    advised_publicly : bool
        Whether k or the method was chosen by public figures alone.
    counts_units : bool
        Whether clusters hold records of k units.
    looked_at : {"data", "public"} or None
        What was looked at, as was declared, before method, k or epsilon were chosen.
    """

    seeded: bool
    model: Model
    shuffle: str | None
    isotonic: bool
    missing: str
    never_missing: tuple[str, ...]
    is_synthetic: bool
    clamps: bool
    drops: bool
    unit: Unit
    of_unit: tuple[str, ...]
    chosen_from_data: bool
    exact_cells: str | None
    randomness: tuple[str, ...]
    spends_epsilon: bool
    advised_publicly: bool
    looked_at: str | None = None
    apart: bool = False
    counts_units: bool = False


def remarks(method: str, given: Circumstances, caveats: Sequence[str]) -> tuple[str, ...]:
    """Return what is to be known of a release beside the conditions of its claims.

    Parameters
    ----------
    method : str
        The method's id and name.
    given : Circumstances
    caveats : sequence of str
        What the method itself does not give.
    """
    return (
        *remarks_of_method(method, given, caveats),
        *handling(given),
        *remarks_of_release(given),
    )


def remarks_of_method(method: str, given: Circumstances, caveats: Sequence[str]) -> tuple[str, ...]:
    """Return what is to be known of what a method did; see `remarks`."""
    notes = []
    if given.chosen_from_data and not given.spends_epsilon:
        notes.append(
            "Which columns are protected was left to a look at the table: numeric ones, without "
            "those of all-different whole numbers and those named like a person's number."
        )
    if given.advised_publicly:
        notes.append(_advised(given))
    notes.append(f"Method: {method}.")
    if not given.seeded:
        notes += caveats
    if given.apart and given.shuffle == "rows":
        notes.append(_APART)
    return tuple(notes)


def remarks_of_release(given: Circumstances) -> tuple[str, ...]:
    """Return what is to be known of a release as a whole; see `remarks`."""
    notes = []
    if given.looked_at == "data" and not given.spends_epsilon:
        notes.append(_LOOKED_AT_DATA)
    if given.looked_at == "public":
        notes.append(_LOOKED_AT_PUBLIC)
    if given.spends_epsilon:
        notes += [
            _NEIGHBOURS if given.unit.column is None else _of_units(given.unit),
            FURTHER[given.model],
        ]
    else:
        notes.append(
            "Every further release of the same people, by other clusters or a rerun, can be put "
            "beside this one and tell more than either."
        )
    notes += _who(given)
    if not given.seeded:
        notes += [f"{_LAWS[drawn]} {IN_ONE_STREAM}" for drawn in given.randomness]
    return tuple(notes)


def united(remarks_by_part: Sequence[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Return the remarks on several parts: what all of them say once, the rest by part.

    Parameters
    ----------
    remarks_by_part : sequence of (str, sequence of str)
        The names of each part's attributes, and the remarks on it.

    Examples
    --------
    >>> united([("AGE", ["Rows are shuffled.", "Noise."]), ("SEX", ["Rows are shuffled."])])
    ('Rows are shuffled.', 'AGE: Noise.')
    """
    common = [
        remark
        for remark in (remarks_by_part[0][1] if remarks_by_part else ())
        if all(remark in own for _, own in remarks_by_part)
    ]
    of_parts = [
        f"{named}: {remark}"
        for named, own in remarks_by_part
        for remark in own
        if remark not in common
    ]
    return (*common, *of_parts)


def _who(given: Circumstances) -> list[str]:
    """Say who is protected, and what became of their records."""
    if given.unit.column is None:
        return [_RECORD]
    if given.counts_units:
        column = one_line(given.unit.column)
        left_out = f"{column} is left out: it would show which rows are one person's."
        order = "" if given.shuffle is not None else _SORTED_BY_PERSON
        return [f"{left_out}{order}"]
    notes = [
        (
            f"A unit is all records with one value of {one_line(given.unit.column)}: a person with "
            "records in several of them is protected less."
        )
    ]
    if given.drops:
        notes.append(
            f"Of a unit with more than {given.unit.max_rows} records so many were drawn, without "
            "a look at their values, and the others left out before anything else."
        )
    if given.of_unit:
        names = ", ".join(map(one_line, given.of_unit))
        notes.append(
            f"One value a unit was drawn of {names}, from that of its first record, and copied to "
            "the others: drawn for each of them, the draws would average out."
        )
    if given.is_synthetic:
        notes.append(_NO_HOUSEHOLDS)
    elif given.shuffle != "columns":
        notes.append(
            f"{one_line(given.unit.column)} holds new numbers, drawn in a secret order: they say "
            "which rows are one unit's, and not whose."
        )
    return notes


def _of_units(unit: Unit) -> str:
    return f"Neighbouring tables differ in {unit.in_words}, replaced by as many others."


def handling(given: Circumstances) -> tuple[str, ...]:
    """Return what became of cells, clusters and the order of rows; see `remarks`."""
    notes = []
    if given.isotonic:
        notes.append(_ISOTONIC + ("." if given.shuffle == "columns" else _ISOTONIC_IN_ROWS))
    if given.missing != "keep":
        shared = given.missing == "protect" and not given.randomness
        notes.append(_MISSING["shared" if shared else given.missing])
    if given.missing != "error" and given.never_missing:
        names = ", ".join(map(one_line, given.never_missing))
        notes.append(f"No cell of {names} may be missing: such a table is refused.")
    if given.clamps:
        notes.append("Values outside the declared bounds were moved to the nearer bound.")
    if given.exact_cells == "widen":
        notes.append(
            "No cluster holds equal values only, which would need no noise by the method's rule: "
            "such clusters were merged with their neighbours or kept out of the partition."
        )
    if given.exact_cells == "refuse":
        notes.append("A release in which a cluster would come out exactly is refused.")
    if given.apart and given.shuffle == "rows":
        return tuple(notes)
    return (*notes, _DRAWN if given.is_synthetic else _ORDER[given.shuffle])


def _advised(given: Circumstances) -> str:
    found = (
        "What was left to advice was chosen from public figures alone: the number of records, "
        "the bounds and the budget."
    )
    if given.chosen_from_data:
        return f"{found} Which columns these are of was left to a look at the table."
    return f"{found} The choice reveals nothing."


_LOOKED_AT_DATA = (
    "The method, k or another parameter was chosen after a look at figures that come from this "
    "table: what is published of them can tell something about it."
)
_LOOKED_AT_PUBLIC = (
    "Who made the release declares that method, k and epsilon were chosen by public figures, and "
    "by none that come from this table. No program can see that."
)
_NEIGHBOURS = (
    "Neighbouring tables differ in one record, replaced by any other for which the request would "
    "not be refused; the number of records is public."
)
_RECORD = "One record is taken to be one person: a person with several records is protected less."
_SORTED_BY_PERSON = (
    " So can the order of the rows, if the table is sorted by person: shuffle them (shuffle)."
)
_NO_HOUSEHOLDS = (
    "Records were drawn one by one, and no units: no two rows of the new table are one household's."
)
_ISOTONIC = (
    "Isotonic regression put the noisy means back in their order. It costs no privacy at cluster "
    "and vector scope"
)
_ISOTONIC_IN_ROWS = (
    ", but in rows that follow individuals it publishes the rank block of every record and invites "
    "linkage: an intruder who knows people's values can link far more rows to them than without it."
)
_LAWS = {
    "laplace": "Noise is exact discrete Laplace noise in integer arithmetic, from",
    "counts": "Cuts and noise on counts are drawn exactly, in integer arithmetic, from",
    "other": "Randomness comes from",
}
IN_ONE_STREAM = "an AES-256 stream keyed by the operating system's randomness."
KEYED = (
    "a ChaCha20 stream for each record, keyed by the operating system's randomness and named by "
    "the record's number."
)
# Of a new table only the jitter is a record's; cuts and noise are of the one stream as ever.
KEYED_JITTER = (
    f"{IN_ONE_STREAM} The jitter that spreads equal values before they are cut comes from {KEYED}"
)
_MISSING = {
    "error": "No cell of a protected attribute may be missing: such a table is refused.",
    "protect": "Being without a value is protected like any value: which cells are missing here "
    "says of nobody that theirs was.",
    "shared": "Being without a value was taken for a value like any other, which records of a "
    "cluster share.",
}
_DRAWN = "Rows were drawn in random order: none follows a person."
_ORDER = {
    None: "Rows are in the order of the original table: whoever knows a person's place in it "
    "knows their row.",
    "rows": "Rows are in random order.",
    "columns": "Each attribute is in a random order of its own, drawn in secret: no row is a "
    "person's, and dependence between attributes is gone.",
}
_APART = (
    "These columns are in a random order of their own, drawn in secret: their values stand beside "
    "other people's of the other columns."
)
FURTHER = {
    Model.DIFFERENTIAL_PRIVACY: "Every further release of the same people, a rerun of this one "
    "included, adds its epsilon to this one's: to count them is what the custodian's ledger of "
    "releases is for.",
    Model.INDIVIDUAL: "Every further release of the same people, a rerun of this one included, "
    "can be put beside this one. Epsilons of individual differential privacy bound no such pair: "
    "the custodian's ledger of releases counts them, where it is kept, and adds nothing up.",
}
