"""How the claims of section 4.1 read the table of errors."""

from collections.abc import Callable, Iterator

from microveil.reproduce.cells import Cell, ratio_of
from microveil.reproduce.idp2025.experiments import ALPHAS, DATA, EPSILONS

__all__ = ["ALIKE", "SIMILAR", "Cells", "alike", "least", "over_domains", "settings"]

# Returns the cells of the method, data, alpha and epsilon that are chosen, by k.
Cells = Callable[..., list[Cell]]
# Factors up to which two errors are taken for alike, and for similar.
ALIKE, SIMILAR = 1.25, 3.0


def settings() -> Iterator[tuple[str, dict[str, float | str]]]:
    """Go through data, alpha and epsilon, each with its name."""
    for data in DATA:
        for alpha in ALPHAS:
            for epsilon in EPSILONS:
                yield (
                    f"{data.title}, alpha {alpha:g}, epsilon {epsilon:g}",
                    {"data": data.name, "alpha": alpha, "epsilon": epsilon},
                )


def alike(ratio: float, factor: float = ALIKE) -> bool:
    """Tell whether a ratio is within a factor of 1."""
    return 1 / factor <= ratio <= factor


def over_domains(cells: Cells, name: str, data: str, epsilon: float) -> tuple[float, str]:
    """Return by how much the error at alpha 3 exceeds that at 1.5, over k."""
    wide, narrow = (
        cells(name=name, data=data, epsilon=epsilon, alpha=alpha) for alpha in reversed(ALPHAS)
    )
    if len(wide) > 1:
        ratio = ratio_of(wide, narrow)
        return ratio.mean, f"{name} {ratio}"
    found = wide[0].mean / narrow[0].mean
    return found, f"{name} {found:.3g}"


def least(line: list[Cell]) -> Cell:
    """Return the cell of the least mean error."""
    return min(line, key=lambda cell: cell.mean)
