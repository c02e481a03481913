"""Tables of a terminal: words to the left, numbers to the right, two spaces between columns."""

from collections.abc import Collection, Iterable, Sequence

__all__ = ["aligned"]

BETWEEN = "  "


def aligned(
    rows: Iterable[Sequence[str]],
    *,
    widths: Sequence[int] = (),
    left: Collection[int] = (0,),
    indent: str = "",
) -> list[str]:
    r"""Set rows under each other, so that columns never run together.

    Parameters
    ----------
    rows : iterable of sequence of str
        The head among them; a row may end early.
    widths : sequence of int
        The least of each column, from the first; each is as wide as its longest cell at least.
    left : collection of int
        Columns of words, set to the left; the others are set to the right.
    indent : str
        Before each line.

    Returns
    -------
    list of str
        A line to a row, without spaces at its end.

    Examples
    --------
    >>> print(*aligned([("attribute", "error"), ("AGE", "0.25"), ("TAX", "12")]), sep="\n")
    attribute  error
    AGE         0.25
    TAX           12
    """
    cells = [tuple(row) for row in rows]
    wide = list(widths)
    for row in cells:
        wide += [0] * (len(row) - len(wide))
        for place, cell in enumerate(row):
            wide[place] = max(wide[place], len(cell))
    return [
        indent
        + BETWEEN.join(
            cell.ljust(wide[place]) if place in left else cell.rjust(wide[place])
            for place, cell in enumerate(row)
        ).rstrip()
        for row in cells
    ]
