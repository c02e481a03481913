"""Releases of the peers: bins and values are made here, what is between by their libraries."""

import json
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars

from benchmarks.peers.bins import Bins, equal_width, own_cuts
from benchmarks.peers.ours import DELTA, EPSILON, request
from benchmarks.peers.published import aim
from benchmarks.peers.tables import SOURCES
from microveil.guarantee.budget import concentrated_budget, epsilon_of

LIMIT_SECONDS = 300


@dataclass(frozen=True, kw_only=True)
class Peer:
    """An algorithm, who carries it out, and on which bins.

    Attributes
    ----------
    label : str
    bins : callable
    algorithm : str
    library : str or None
        None for AIM's published rules, in numpy.
    factor : Fraction
        What a record replaced costs, over what one added or removed does, which is what the
        library counts: a table moves by sqrt(2) instead of 1 (twice the rho), a score, a sum of
        absolute differences, by 2 (four times).
    """

    label: str
    bins: Callable[[polars.DataFrame, dict[str, Any]], Bins]
    algorithm: str
    library: str | None
    factor: Fraction


PEERS = {
    "mst": Peer(
        label="MST of OpenDP, 10 equal-width bins",
        bins=equal_width,
        algorithm="mst",
        library="opendp",
        # Half for one-way tables; of the rest 0.9 for tables and 0.1 for scores.
        factor=Fraction(21, 10),
    ),
    "aim": Peer(
        label="AIM of OpenDP, 10 equal-width bins",
        bins=equal_width,
        algorithm="aim",
        library="opendp",
        factor=Fraction(21, 10),
    ),
    "mst-dpmm": Peer(
        label="MST of dpmm, 10 equal-width bins",
        bins=equal_width,
        algorithm="mst",
        library="dpmm",
        # A third for scores.
        factor=Fraction(8, 3),
    ),
    "aim-dpmm": Peer(
        label="AIM of dpmm, 10 equal-width bins",
        bins=equal_width,
        algorithm="aim",
        library="dpmm",
        factor=Fraction(22, 10),
    ),
    "mst-cuts": Peer(
        label="MST of OpenDP, our cuts",
        bins=own_cuts,
        algorithm="mst",
        library="opendp",
        # One-way tables are known: 0.9 for tables and 0.1 for scores.
        factor=Fraction(22, 10),
    ),
    "aim-cuts": Peer(
        label="AIM of OpenDP, our cuts",
        bins=own_cuts,
        algorithm="aim",
        library="opendp",
        factor=Fraction(22, 10),
    ),
    "aim-rules": Peer(
        label="AIM's published rules, our cuts",
        bins=own_cuts,
        algorithm="aim",
        library=None,
        factor=Fraction(1),
    ),
}


def draw_theirs(name: str, source: str, folder: Path, pythons: Mapping[str, str]) -> None:
    """Draw a peer's release and time it; one over the limit leaves a note of it.

    What is computed in this process is timed twice, as ours is.
    """
    peer, table = PEERS[name], polars.read_csv(SOURCES[source].path)
    times = {}
    for run in ("all", "again") if peer.library is None else ("all",):
        start = time.perf_counter()
        bins = peer.bins(table, request(source, table))
        rho = concentrated_budget(EPSILON, DELTA) * bins.share / peer.factor
        steps = []
        if peer.library is None:
            drawn = aim(bins, float(rho))
        else:
            steps.append(time.perf_counter() - start)
            drawn = _drawn_by_library(peer, bins, rho, folder, pythons[peer.library])
            if drawn is None:
                (folder / "over.json").write_text(json.dumps({"limit": LIMIT_SECONDS}))
                return
            steps += json.loads((folder / "steps.json").read_text()).values()
            start = time.perf_counter()
        released = bins.table(drawn)
        times[run] = sum(steps) + time.perf_counter() - start
    released.write_csv(folder / "released.csv")
    (folder / "times.json").write_text(json.dumps(times))


def _drawn_by_library(
    peer: Peer, bins: Bins, rho: Fraction, folder: Path, python: str
) -> polars.DataFrame | None:
    """Have the library's interpreter draw bins; None where it takes longer than the limit."""
    asked = {
        "algorithm": peer.algorithm,
        "rho": float(rho),
        # For a library that is given these: they are rho again by the same conversion.
        "epsilon": float(epsilon_of(rho, DELTA)),
        "delta": float(DELTA),
        "sizes": bins.sizes,
        "known": bins.known,
    }
    (folder / "request.json").write_text(json.dumps(asked))
    polars.DataFrame(bins.codes).write_csv(folder / "bins.csv")
    script = Path(__file__).with_name(f"release_{peer.library}.py")
    try:
        subprocess.run([python, str(script), str(folder)], check=True, timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    return polars.read_csv(folder / "drawn.csv")
