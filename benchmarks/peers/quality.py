"""How well releases keep single columns, pairs and triples: ours, and AIM's rules on our cuts.

MICROVEIL_DATA=... python -m benchmarks.peers.quality FOLDER [--table acs,gates-4] [--epsilon 1,3]
    [--peer ours,aim-rules,original] [--domains learnt,declared] [--runs 5] [--boosted EDU,DREM]

Tables: real ones, invented ones of `simulated.py`, or a group: real, chosen-on, held-back. Nothing
is seeded. Runs that are already in the folder are not made again. With --boosted releases
are drawn of three quarters of the records, and gradient boosting learns these columns of them: its
share of right answers on the other quarter. Of "original" it learns them of the records themselves.
"""

import argparse
import itertools
import json
import os
import statistics
import time
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars
import scipy
from numpy.typing import NDArray

import microveil as mv
from benchmarks.peers.bins import own_cuts
from benchmarks.peers.published import aim
from benchmarks.peers.simulated import CHOSEN_ON, HELD_BACK, SIMULATED, simulated

DELTA = Fraction(1, 10**9)
REAL = {"acs": "acs_ma.csv", "sd2011": "sd2011.csv", "eusilc": "eusilc.csv", "adult": "adult.csv"}
GROUPS = {"real": [*REAL], "chosen-on": [*CHOSEN_ON], "held-back": [*HELD_BACK]}
# The number of a household is no measurement.
LEFT_OUT = ["db030"]
TRIPLES = 300
FIGURES = ("tvd2", "tvd3", "ks", "w1", "commonest", "pearson", "seconds")


def table_of(name: str) -> polars.DataFrame:
    """Read a real table, or draw an invented one."""
    if name in SIMULATED:
        return simulated(name)
    path = Path(os.environ["MICROVEIL_DATA"], REAL[name])
    table = polars.read_csv(path, null_values=["NA"], infer_schema_length=None)
    # A code of digits beside words is a word: by its first letter.
    return table.drop(LEFT_OUT, strict=False).with_columns(
        (polars.lit("=") + polars.col(polars.String)).name.keep()
    )


def declared(table: polars.DataFrame) -> dict[str, Any]:
    """Declare all words that occur, and numbers up to twice the farthest, at their resolution."""
    found: dict[str, Any] = {"bounds": {}, "categories": {}, "resolution": {}, "missing": "protect"}
    for name in table.columns:
        values = table[name].drop_nulls()
        if values.dtype == polars.String:
            found["categories"][name] = values.unique().sort().to_list()
            continue
        ends = 2 * min(float(values.min()), 0.0), 2 * max(float(values.max()), 0.0)
        found["bounds"][name] = tuple(int(np.sign(end) * np.ceil(abs(end))) for end in ends)
        places = (one for one in range(3) if (values.cast(float).round(one) == values).all())
        found["resolution"][name] = 10.0 ** -next(places, 2)
    return found


def drawn(peer: str, table: polars.DataFrame, epsilon: str, domains: str) -> polars.DataFrame:
    """Draw a release at (epsilon, 1e-9)."""
    asked = declared(table) if domains == "declared" else {}
    request = {"epsilon": float(epsilon), "delta": float(DELTA), **asked}
    if peer == "original":  # what there was to keep
        return table
    if peer == "ours":
        return mv.protect(table, attributes=table.columns, **request).data
    bins = own_cuts(table, {"method": "dp-synthetic", "attributes": table.columns, **request})
    rho = bins.planned.guarantee.rho
    return bins.table(aim(bins, float(rho * bins.share)))


def measured(original: polars.DataFrame, released: polars.DataFrame) -> dict[str, float]:
    """Measure distances of single columns, of pairs and of triples, means over all of them."""
    codes, sizes = _codes(original, released)
    found: dict[str, list[float]] = {name: [] for name in ("ks", "w1", "commonest")}
    for name in original.columns:
        values, counts = np.unique(codes[name][0], return_counts=True)
        commonest = values[counts.argmax()]
        shares = [float((one == commonest).mean()) for one in codes[name]]
        found["commonest"].append(abs(shares[1] - shares[0]))
        if original[name].dtype != polars.String and name in released.columns:
            own, new = (one[name].drop_nulls().to_numpy() for one in (original, released))
            if len(new):
                found["ks"].append(float(scipy.stats.ks_2samp(own, new, method="asymp").statistic))
                distance = scipy.stats.wasserstein_distance(own, new)
                found["w1"].append(float(distance) / max(float(own.std()), 1e-12))
    triples = [*itertools.combinations(original.columns, 3)]
    order = np.random.default_rng(0).permutation(len(triples))[:TRIPLES]
    return {
        "tvd2": _variation(codes, sizes, [*itertools.combinations(original.columns, 2)]),
        "tvd3": _variation(codes, sizes, [triples[one] for one in order]),
        "pearson": _pearson(original, released),
        **{name: float(np.mean(values)) if values else 0.0 for name, values in found.items()},
    }


def _codes(
    original: polars.DataFrame, released: polars.DataFrame
) -> tuple[dict[str, list[NDArray[np.int64]]], dict[str, int]]:
    """Number words, and tenths of numbers by the original; without a value is one more."""
    codes, sizes = {}, {}
    for name in original.columns:
        new = released[name] if name in released.columns else original[name].clear(len(released))
        both = [original[name], new]
        if original[name].dtype == polars.String:
            known = polars.concat([one.cast(polars.String) for one in both]).unique().sort()
            listed = {word: place for place, word in enumerate(known)}
            codes[name] = [np.array([listed[word] for word in one]) for one in both]
            sizes[name] = len(listed)
        else:
            values = [one.cast(polars.Float64).to_numpy() for one in both]
            own = values[0][~np.isnan(values[0])]
            ends = np.unique(np.quantile(own, np.arange(1, 10) / 10, method="lower"))
            # An end belongs to the values up to it, so that a spike at 0 is a tenth by itself.
            tenths = [np.searchsorted(ends, one) for one in values]
            codes[name] = [
                np.where(np.isnan(one), len(ends) + 1, own_tenths)
                for one, own_tenths in zip(values, tenths, strict=True)
            ]
            sizes[name] = len(ends) + 2
    return codes, sizes


def _variation(
    codes: Mapping[str, list[NDArray[np.int64]]],
    sizes: Mapping[str, int],
    scopes: list[tuple[str, ...]],
) -> float:
    """Average the total variation distance of tables."""
    found = []
    for scope in scopes:
        shape = [sizes[name] for name in scope]
        shares = []
        for which in (0, 1):
            cells = np.ravel_multi_index([codes[name][which] for name in scope], shape)
            shares.append(np.bincount(cells, minlength=int(np.prod(shape))) / len(cells))
        found.append(float(np.abs(shares[0] - shares[1]).sum()) / 2)
    return statistics.fmean(found)


def _pearson(original: polars.DataFrame, released: polars.DataFrame) -> float:
    """Average how far correlations of numbers moved, over records that have both values."""
    names = [name for name in original.columns if original[name].dtype != polars.String]
    names = [name for name in names if name in released.columns]
    moved = []
    for pair in itertools.combinations(names, 2):
        both = []
        for table in (original, released):
            values = table.select(pair).drop_nulls().to_numpy().astype(float).T
            is_flat = values.shape[1] < 2 or (values.std(axis=1) == 0).any()
            both.append(0.0 if is_flat else float(np.corrcoef(values)[0, 1]))
        moved.append(abs(both[1] - both[0]))
    return float(np.mean(moved)) if moved else 0.0


def boosted(
    train: polars.DataFrame, test: polars.DataFrame, targets: list[str]
) -> dict[str, float]:
    """Learn columns of a release by gradient boosting, and answer for other records."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.preprocessing import OrdinalEncoder

    test = test.select([name for name in test.columns if name in train.columns])
    words = [name for name in test.columns if test[name].dtype == polars.String]
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    encoder.fit(polars.concat([train[words], test[words]]).to_pandas())
    numbered = []
    for table in (train, test):
        own = table.select(test.columns).to_pandas()
        own[words] = encoder.transform(own[words])
        numbered.append(own.astype(float))
    right = {}
    for target in targets:
        truth = [one[target].fillna(-1).astype(int) for one in numbered]
        inputs = [one.drop(columns=target) for one in numbered]
        learner = HistGradientBoostingClassifier(max_iter=60, random_state=0)
        learner.fit(inputs[0], truth[0])
        right[f"right {target}"] = float(learner.score(inputs[1], truth[1]))
    return right


def run(
    asked: argparse.Namespace, table: str, peer: str, epsilon: str, domains: str, nth: int
) -> dict[str, float]:
    """Draw and measure one release, unless that is done."""
    targets = [*filter(None, asked.boosted.split(","))]
    name = f"{table} {peer} {epsilon} {domains} {nth} {'-'.join(targets)}.json"
    place = asked.folder / name
    if not place.exists():
        original = table_of(table)
        held = np.random.default_rng(nth).random(len(original)) < (0.25 if targets else 0)
        known = original.filter(~held)
        start = time.perf_counter()
        released = drawn(peer, known, epsilon, domains)
        seconds = time.perf_counter() - start
        found = measured(known, released) | {"seconds": seconds}
        found |= boosted(released, original.filter(held), targets) if targets else {}
        place.write_text(json.dumps(found))
    return json.loads(place.read_text())


def line(cells: list[Any]) -> str:
    """Write a line of a table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    """Make what is missing, and print the mean of each table as it comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--table", default="real")
    parser.add_argument("--peer", default="ours")
    parser.add_argument("--epsilon", default="1,3")
    parser.add_argument("--domains", default="learnt")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--boosted", default="")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    names = [one for name in asked.table.split(",") for one in GROUPS.get(name, [name])]
    print(line(["table", "epsilon", "domains", "", "runs", *FIGURES, "right"]))
    print(line(["---"] * (6 + len(FIGURES))))
    for table, epsilon, domains, peer in itertools.product(
        names, asked.epsilon.split(","), asked.domains.split(","), asked.peer.split(",")
    ):
        found = [run(asked, table, peer, epsilon, domains, nth) for nth in range(asked.runs)]
        means = [f"{statistics.fmean(one[figure] for one in found):.4f}" for figure in FIGURES]
        right = [own for one in found for name, own in one.items() if name.startswith("right ")]
        shown = f"{statistics.fmean(right):.3f}" if right else "-"
        cells = [table, epsilon, domains, peer, len(found), *means, shown]
        print(line(cells), flush=True)


if __name__ == "__main__":
    main()
