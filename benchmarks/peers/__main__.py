"""Census by `dp-synthetic` and by MST and AIM of OpenDP in turn, measured alike.

MICROVEIL_DATA=... python -m benchmarks.peers PYTHON FOLDER [--runs 3] [--algorithms mst,aim]

PYTHON is the interpreter of the peers' environment. Runs that are already in the folder are not
made again: they are read and printed with the others.
"""

import argparse
import json
import os
import statistics
import subprocess
from pathlib import Path

import numpy as np
import polars

import microveil as mv
from benchmarks.peers.ours import DELTA, EPSILON, domains, in_new_process
from microveil.privacy.concentrated import concentrated_budget

BINS = 10
LIMIT_SECONDS = 300
MEASURES = ("sorted_error", "two_way_total_variation", "mean_absolute_change")


def draw_theirs(python: str, algorithm: str, source: Path, folder: Path) -> None:
    """Have the peers' interpreter draw a release; one over the limit leaves a note of it."""
    request = {
        "table": str(source),
        "algorithm": algorithm,
        "rho": float(concentrated_budget(EPSILON, DELTA)),
        "edges": {
            name: np.linspace(lower, upper + 1, BINS + 1).tolist()
            for name, (lower, upper) in domains(polars.read_csv(source)).items()
        },
    }
    (folder / "request.json").write_text(json.dumps(request))
    script = Path(__file__).with_name("release.py")
    try:
        subprocess.run(
            [python, str(script), str(folder / "request.json"), str(folder)],
            check=True,
            timeout=LIMIT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        (folder / "over.json").write_text(json.dumps({"limit": LIMIT_SECONDS}))


def measured(source: Path, folder: Path) -> dict[str, float]:
    """Measure one release as `microveil assess` does."""
    original = polars.read_csv(source)
    found = mv.assess(
        original, polars.read_csv(folder / "released.csv"), original.columns, paired=False
    )
    return {name: found.measured[name].figure.value for name in MEASURES}


def run(python: str, algorithm: str, number: int, source: Path, place: Path) -> dict[str, object]:
    """Make one pair of releases, ours and then theirs, unless it is there."""
    pair: dict[str, object] = {"algorithm": algorithm, "run": number}
    for name in ("ours", "theirs"):
        folder = place / f"{algorithm}-{number}" / name
        folder.mkdir(parents=True, exist_ok=True)
        if not any((folder / file).exists() for file in ("times.json", "over.json")):
            if name == "ours":
                in_new_process(source, folder)
            else:
                draw_theirs(python, algorithm, source, folder)
        if (folder / "times.json").exists():
            times = json.loads((folder / "times.json").read_text())
            pair[name] = {**measured(source, folder), "times": times}
    return pair


def spread(values: list[float]) -> str:
    """Write a median and, in brackets, the least and the most."""
    if not values:
        return "-"
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def printed(pairs: list[dict[str, object]]) -> str:
    """Lay out one line for ours and one for each peer."""
    releases = {"dp-synthetic": [pair["ours"] for pair in pairs]}
    ratios: dict[str, list[float]] = {"dp-synthetic": []}
    over = {"dp-synthetic": 0}
    for name in dict.fromkeys(pair["algorithm"] for pair in pairs):
        of_it = [pair for pair in pairs if pair["algorithm"] == name]
        done = [pair for pair in of_it if "theirs" in pair]
        label = f"{name}, {BINS} bins"
        releases[label] = [pair["theirs"] for pair in done]
        over[label] = len(of_it) - len(done)
        ratios[label] = [
            pair["theirs"]["times"]["all"] / pair["ours"]["times"]["all"] for pair in done
        ]
    heads = ("", "runs", "over", "sorted error", "TVD2", "Pearson difference", "seconds", "ratio")
    lines = [heads]
    for name, found in releases.items():
        columns = [spread([release[measure] for release in found]) for measure in MEASURES]
        seconds = spread([release["times"]["all"] for release in found])
        counts = (str(len(found)), str(over[name]))
        lines.append((name, *counts, *columns, seconds, spread(ratios[name])))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Make what is missing, one run after the other, and print the table after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--algorithms", default="mst,aim")
    asked = parser.parse_args()
    source = Path(os.environ["MICROVEIL_DATA"], "census.csv")
    pairs = []
    for number in range(asked.runs):
        for algorithm in asked.algorithms.split(","):
            pairs.append(run(asked.python, algorithm, number, source, asked.folder))
            print(printed(pairs), flush=True)


if __name__ == "__main__":
    main()
