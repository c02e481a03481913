"""Distribution sort and its way back, to be read rather than run fast."""


def distribution_sort(values, borders):
    """Positions of values in ascending order, equal ones by position, and the values so.

    Each value goes to the range of as many borders as are not above it; ranges are sorted alone.
    """
    ranges = [[] for _ in range(len(borders) + 1)]
    for position, value in enumerate(values):
        ranges[sum(border <= value for border in borders)].append((value, position))
    in_order = [pair for own in ranges for pair in sorted(own)]
    return [position for _, position in in_order], [value for value, _ in in_order]


def broadcast(order, sizes, cells, n_records):
    """The cell of each record's cluster, 0 outside all of them."""
    members = iter(order)
    given = {next(members): cell for size, cell in zip(sizes, cells, strict=True)
             for _ in range(size)}  # fmt: skip
    return [given.get(record, 0) for record in range(n_records)]


def moved(values, moves):
    """Values at other places: each move takes one from a place and puts it to another."""
    out = list(values)
    for source, target in moves:
        out[target] = values[source]
    return out
