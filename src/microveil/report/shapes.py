"""Lines and words of a picture."""

from collections.abc import Iterable, Sequence

from microveil.report.markup import Markup, element

__all__ = ["path", "shortened", "text"]


def path(points: Iterable[Sequence[float]], class_: str) -> Markup:
    """Draw a line through points.

    >>> path([(0, 1), (2.5, 3)], "axis")
    '<path d="M0 1L2.5 3" class="axis"/>'
    """
    placed = "L".join(f"{shortened(x)} {shortened(y)}" for x, y in points)
    return element("path", d=f"M{placed}", class_=class_)


def text(words: str, x: float, y: float, class_: str | None = None) -> Markup:
    """Write words at a place.

    >>> text("age", 10, 20.25, "end")
    '<text x="10" y="20.2" class="end">age</text>'
    """
    return element("text", words, x=float(x), y=float(y), class_=class_)


def shortened(length: float) -> str:
    """Write a length with one decimal where it has one.

    >>> shortened(2.0), shortened(2.25)
    ('2', '2.2')
    """
    return f"{length:.1f}".removesuffix(".0")
