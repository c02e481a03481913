"""The conditions of a guarantee in sentences, which every certificate prints."""

from collections.abc import Sequence
from dataclasses import dataclass

from microveil.schema import Attribute

__all__ = ["Circumstances", "conditions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What of a request bears on its guarantee, beside the method.

    Attributes
    ----------
    seeded, shuffled, isotonic, keeps_missing, clamps : bool
    chosen_from_data : bool
        Whether the columns to protect were left to a look at the table.
    exact_cells : str or None
        "refuse", "allow" or "widen"; None where the method never publishes a cell exactly.
    randomness : str or None
        "laplace", "other", or None where the method draws nothing.
    spends_epsilon : bool
    kept : tuple of str
    advised : str or None
        "data" where k or the method was chosen by the error expected on the table, "public"
        where by public figures alone.
    """

    seeded: bool
    shuffled: bool
    isotonic: bool
    keeps_missing: bool
    clamps: bool
    chosen_from_data: bool
    exact_cells: str | None
    randomness: str | None
    spends_epsilon: bool
    kept: tuple[str, ...]
    advised: str | None


def conditions(
    method: str,
    attributes: Sequence[Attribute],
    given: Circumstances,
    caveats: Sequence[str],
) -> tuple[str, ...]:
    """Return the conditions and exceptions of a guarantee, the gravest first.

    Parameters
    ----------
    method : str
        The method's id and name.
    attributes : sequence of Attribute
        The protected ones.
    given : Circumstances
    caveats : sequence of str
        What the method itself does not give.
    """
    notes = []
    if given.seeded:
        notes.append(
            "The noise came from a seed: this release protects nobody and is for experiments only."
        )
    notes += _read_from_data(attributes)
    if given.chosen_from_data:
        notes.append(
            "Which columns are protected was left to a look at the table: numeric ones, without "
            "those of all-different whole numbers, which are taken for identifiers. The claims "
            "take this choice as given; naming the attributes removes the condition."
        )
    if given.advised == "data":
        notes.append(
            "Parameters left to advice were chosen by the error to be expected on this table. They "
            "are published and can tell something about it; the claims take them as given, the "
            "same for this table and its neighbours, and are then individual differential privacy."
        )
    if given.advised == "public":
        notes.append(
            "k was chosen from public figures alone: the number of records, the bounds and the "
            "budget. The choice reveals nothing."
        )
    notes.append(f"Method: {method}.")
    if not given.seeded:
        notes += caveats
    notes += _handling(given)
    if given.spends_epsilon:
        notes += [
            (
                "Neighbouring tables differ in one record, replaced by any other; the number of "
                "records is public."
            ),
            (
                "Every further release of the same people, a rerun of this one included, adds its "
                "epsilon to this one's."
            ),
        ]
    else:
        notes.append(
            "Every further release of the same people, by other clusters or a rerun, can be put "
            "beside this one and tell more than either."
        )
    notes.append(
        "One record is taken to be one person: a person with several records is protected less."
    )
    if given.randomness and not given.seeded:
        law = "Noise is exact discrete Laplace noise in integer arithmetic, from"
        notes.append(
            f"{law if given.randomness == 'laplace' else 'Randomness comes from'} an AES-256 "
            "stream keyed by the operating system's randomness."
        )
    return tuple(notes)


def _read_from_data(attributes: Sequence[Attribute]) -> list[str]:
    notes = []
    bounded = [a.name for a in attributes if a.bounds_from_data]
    if bounded:
        notes.append(
            f"Bounds were read from the data for {', '.join(bounded)}. The release shows them: "
            "no claim holds for the person who has the largest or the smallest value of such an "
            "attribute, nothing in this release is differential privacy, and the scopes hold "
            "for the others with the bounds taken as given."
        )
    read = [a.name for a in attributes if a.resolution_from_data]
    if read:
        notes.append(
            f"Resolutions were read from the data for {', '.join(read)}: the number of decimals "
            "in use is revealed, nothing in this release is differential privacy, and the claims "
            "take the resolutions as given."
        )
    return notes


def _handling(given: Circumstances) -> list[str]:
    notes = []
    if given.kept:
        notes.append(
            f"Released unprotected: {', '.join(given.kept)}. No claim covers these columns; "
            "neighbouring tables have them alike."
        )
    if given.isotonic:
        notes.append(
            "Isotonic regression put the noisy means back in their order. It costs no privacy "
            "at cluster and vector scope, but in rows that follow individuals it publishes the "
            "rank block of every record and invites linkage: an intruder who knows people's "
            "values can link far more rows to them than without it."
        )
    notes.append(
        "Cells without a value are released as such; the claims compare tables with the same "
        "cells missing, and say nothing about which are."
        if given.keeps_missing
        else "No cell of a protected attribute may be missing: such a table is refused."
    )
    if given.clamps:
        notes.append("Values outside the declared bounds were moved to the nearer bound.")
    if given.exact_cells == "allow":
        notes.append(
            "Clusters of equal values need no noise by the method's rule and may be published "
            "exactly as they are; this was allowed."
        )
    if given.exact_cells == "widen":
        notes.append(
            "No cluster holds equal values only, which would need no noise by the method's rule: "
            "such clusters were merged with their neighbours or kept out of the partition."
        )
    if given.exact_cells == "refuse":
        notes.append("A release in which a cluster would come out exactly is refused.")
    notes.append(
        "Rows are in random order."
        if given.shuffled
        else "Rows are in the order of the original table: whoever knows a person's place in it "
        "knows their row."
    )
    return notes
