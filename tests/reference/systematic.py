"""Systematic sampling of the outcomes of groups, record by record."""

from collections.abc import Sequence


def systematic(
    masses: Sequence[float],
    groups: Sequence[int],
    of_records: Sequence[int],
    mixed: Sequence[int],
    starts: Sequence[float],
) -> list[int]:
    """Give the records of a group evenly spaced places on its line, and what stands there.

    The first place of a group is so far from its beginning as its start says, in parts of the way
    from a place to the next; groups without a record have none.
    """
    found = [-1] * len(of_records)
    for group, start in zip(sorted(set(of_records)), starts, strict=True):
        own = [outcome for outcome, its in enumerate(groups) if its == group]
        total = sum(masses[outcome] for outcome in own)
        shares = [masses[outcome] / total if total > 0 else 1 / len(own) for outcome in own]
        members = [record for record in mixed if of_records[record] == group]
        for rank, record in enumerate(members):
            place = (rank + start) / len(members)
            at, end = 0, shares[0]
            while end <= place and at < len(own) - 1:
                at += 1
                end += shares[at]
            found[record] = own[at]
    return found
