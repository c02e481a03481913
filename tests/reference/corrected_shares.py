"""Shares corrected for randomisation, in rationals and to be read rather than run fast."""

from fractions import Fraction


def solved(matrix, values):
    """Solve matrix x = values by elimination."""
    rows = [
        [*map(Fraction, row), Fraction(value)] for row, value in zip(matrix, values, strict=True)
    ]
    size = len(rows)
    for column in range(size):
        pivot = next(row for row in range(column, size) if rows[row][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [entry / rows[column][column] for entry in rows[column]]
        for row in range(size):
            if row != column:
                factor = rows[row][column]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[column], strict=True)]
    return [row[-1] for row in rows]


def transposed(matrix):
    return [list(column) for column in zip(*matrix, strict=True)]


def corrected(chances, counts):
    """Pi with P^T pi = q."""
    return solved(transposed(chances), [Fraction(count, sum(counts)) for count in counts])


def covariance(chances, shares, n_records):
    """(P^T)^-1 [sum over k of pi_k (diag P_k - P_k P_k^T) / n] P^-1, shares those before."""
    size = range(len(chances))
    drawn = [
        [
            sum(
                shares[k] * ((chances[k][i] if i == j else 0) - chances[k][i] * chances[k][j])
                for k in size
            )
            / n_records
            for j in size
        ]
        for i in size
    ]
    half = transposed([solved(transposed(chances), column) for column in transposed(drawn)])
    return [solved(transposed(chances), row) for row in half]
