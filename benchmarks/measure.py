"""Timing in turns: ratios survive a machine whose speed drifts."""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table: what was measured, against what, and what must be reached."""

    work: str
    peer: str
    ratio: float
    least: float
    most: float
    runs: int
    wanted: str


def once(work: str, peer: str, ratio: float, wanted: str) -> Row:
    """Return the line of what was measured once; without a peer the ratio is the figure itself."""
    return Row(work=work, peer=peer, ratio=ratio, least=ratio, most=ratio, runs=1, wanted=wanted)


def seconds(work: Callable[[], object]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_turns(
    work: str,
    peer: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    runs: int,
    wanted: str,
    inverse: bool = False,
) -> Row:
    """Run ours and theirs in turn after a warm-up; report the ratio pair by pair.

    The ratio is our time over theirs, or theirs over ours where ``inverse`` (how many times
    faster).
    """
    ours()
    theirs()
    ratios = []
    for _ in range(runs):
        ratio = seconds(ours) / seconds(theirs)
        ratios.append(1 / ratio if inverse else ratio)
    return Row(
        work=work,
        peer=peer,
        ratio=statistics.median(ratios),
        least=min(ratios),
        most=max(ratios),
        runs=runs,
        wanted=wanted,
    )


def python(code: str) -> Callable[[], object]:
    """Return a call that runs code in a new process."""
    return lambda: subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


HEAD = f"{'work':76}{'against':46}{'ratio':>8}{'least':>8}{'most':>8}{'runs':>6}  wanted"


def line(row: Row) -> str:
    """Lay a row out under the head of the table."""
    return (
        f"{row.work:76}{row.peer:46}{row.ratio:8.3g}{row.least:8.3g}{row.most:8.3g}{row.runs:6}"
        f"  {row.wanted}"
    )
