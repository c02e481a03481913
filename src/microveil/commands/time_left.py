"""How long work still takes, in words: by the step it is at, or by what of it is done."""

from collections.abc import Iterable

# What part of the time that a release takes is behind when a step begins, by its first word:
# measured of dp-um, in random order too, and dp-synthetic on files of 10^7 records and 15 or 20
# attributes. The draw of a column says nothing: it may be the first of twenty, or the last.
BEHIND = {
    "partitioning": 0.25,
    "counting": 0.6,
    "choosing": 0.62,
    "drawing": 0.65,
    "comparing": 0.75,
    "linking": 0.8,
    "writing": 0.85,
}
# Seconds before which nobody wants to know.
LONG = 5.0


def time_left(steps: Iterable[tuple[str, float]], elapsed: float) -> str | None:
    """Estimate how long a release still takes by its steps; None if too early to say."""
    shares = ((began, BEHIND.get(step.partition(" ")[0])) for step, began in steps)
    totals = [began / share for began, share in shares if share is not None]
    if not totals or elapsed < LONG or elapsed >= totals[-1]:
        return None
    return _in_words(totals[-1] - elapsed)


def time_left_of(done: int, total: int, elapsed: float) -> str | None:
    """Estimate how long the rest takes of what is counted, ``elapsed`` seconds after none was."""
    if not 0 < done < total or elapsed < LONG:
        return None
    return _in_words(elapsed * (total - done) / done)


def _in_words(seconds: float) -> str:
    return f"about {seconds / 60:.0f} min left" if seconds >= 60 else f"about {seconds:.0f} s left"
