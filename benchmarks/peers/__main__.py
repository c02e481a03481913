"""Tables by `dp-synthetic` and by its peers in turn, measured alike.

MICROVEIL_DATA=... python -m benchmarks.peers FOLDER --opendp PYTHON [--dpmm PYTHON]
    [--table census] [--peers mst,aim] [--runs 3]

PYTHON is the interpreter of a library's environment. Runs that are already in the folder are not
made again: they are read and printed with the others.
"""

import argparse
import json
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars

import microveil as mv
from benchmarks.peers.ours import draw_ours, in_new_process
from benchmarks.peers.tables import SOURCES, learnt
from benchmarks.peers.theirs import PEERS, draw_theirs

MEASURES = {
    "sorted_error": "sorted error",
    "two_way_total_variation": "TVD2",
    "mean_absolute_change": "Pearson difference",
}
LEARNT = {"f": "F", "auc": "AUC"}


def measured(source: str, folder: Path) -> dict[str, float]:
    """Measure a release as `microveil assess` does, and what it teaches, unless that is done."""
    known = folder / "measured.json"
    if not known.exists():
        original = polars.read_csv(SOURCES[source].path)
        released = polars.read_csv(folder / "released.csv")
        found = mv.assess(original, released, original.columns, paired=False)
        figures = {name: found.measured[name].figure.value for name in MEASURES}
        known.write_text(json.dumps(figures | learnt(SOURCES[source], released)))
    return json.loads(known.read_text())


def run(
    source: str, peer: str, number: int, place: Path, pythons: Mapping[str, str]
) -> dict[str, Any]:
    """Make one pair of releases, ours and then theirs, unless it is there."""
    pair: dict[str, Any] = {"peer": peer}
    for name in ("ours", "theirs"):
        folder = place / source / f"{peer}-{number}" / name
        folder.mkdir(parents=True, exist_ok=True)
        if not any((folder / file).exists() for file in ("times.json", "over.json")):
            if name == "ours":
                in_new_process(draw_ours, source, folder)
            else:
                in_new_process(draw_theirs, peer, source, folder, pythons)
        if (folder / "times.json").exists():
            times = json.loads((folder / "times.json").read_text())
            pair[name] = {**times, **measured(source, folder)}
    return pair


def spread(values: list[float]) -> str:
    """Write a median and, in brackets, the least and the most."""
    if not values:
        return "-"
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def printed(pairs: list[dict[str, Any]]) -> str:
    """Lay out one line for ours and one for each peer."""
    figures = MEASURES | LEARNT | {"all": "seconds", "again": "again"}
    heads = ("", "runs", "over", *figures.values(), "times ours", "again")
    lines = [heads, ("---",) * len(heads)]
    groups = {"`dp-synthetic`": ("ours", pairs)}
    for peer in dict.fromkeys(pair["peer"] for pair in pairs):
        groups[PEERS[peer].label] = ("theirs", [pair for pair in pairs if pair["peer"] == peer])
    for label, (name, group) in groups.items():
        done = [pair for pair in group if name in pair]
        columns = [
            spread([pair[name][figure] for pair in done if figure in pair[name]])
            for figure in figures
        ]
        ratios = [
            [pair[name][time] / pair["ours"][time] for pair in done if time in pair[name]]
            for time in ("all", "again")
        ]
        times = ["-" if name == "ours" else spread(of_time) for of_time in ratios]
        lines.append((label, str(len(done)), str(len(group) - len(done)), *columns, *times))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Make what is missing, one run after the other, and print the table after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--opendp", default="")
    parser.add_argument("--dpmm", default="")
    parser.add_argument("--table", choices=SOURCES, default="census")
    parser.add_argument("--peers", default="mst,aim")
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    pythons = {"opendp": asked.opendp, "dpmm": asked.dpmm}
    pairs = []
    for number in range(asked.runs):
        for peer in asked.peers.split(","):
            pairs.append(run(asked.table, peer, number, asked.folder, pythons))
            print(printed(pairs), flush=True)


if __name__ == "__main__":
    main()
