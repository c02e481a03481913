"""A release by MST or AIM of OpenDP: run by the peers' interpreter, without microveil.

python release.py REQUEST FOLDER writes released.csv and times.json. The request, in JSON, names
the table, the algorithm, the rho to be spent with one record replaced, and the edges of the bins
of each column, the last one beyond its largest value.
"""

import json
import sys
import time
from math import nextafter
from pathlib import Path

import numpy as np
import opendp.extras.mbi._mst as mst
import opendp.prelude as dp
import polars
from opendp.extras.polars import Bound

# OpenDP counts a record added or removed: every table and score moves by 1. With one replaced a
# table moves by sqrt(2) (twice the rho) and a score, a sum of absolute differences, by 2 (four
# times). Both algorithms spend half of what follows the one-way tables' half, and of that 0.9, on
# tables and 0.1 on scores: 0.95 x 2 + 0.05 x 4.
REPLACED_OVER_ADDED = 2.1


def refusing_no_plan_of_its_own(budget: float) -> float:
    """Lower a budget by more than OpenDP's next float.

    The sum of the selections' shares is rounded up, by more than one float of each, and then
    found to be above the whole: MST of 13 columns is refused with most budgets.
    """
    return budget * (1 - 2**-40)


def main() -> None:
    """Draw one release and time its steps; importing libraries is no part of them."""
    request = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(sys.argv[2])
    dp.enable_features("contrib")
    mst.prior = refusing_no_plan_of_its_own
    table = polars.read_csv(request["table"])
    edges = {name: np.array(values) for name, values in request["edges"].items()}
    start = time.perf_counter()
    codes = polars.DataFrame(
        {
            name: np.searchsorted(cuts[1:-1], table[name].to_numpy(), "right").astype(np.int32)
            for name, cuts in edges.items()
        }
    )
    measurement = dp.mbi.make_contingency_table(
        dp.lazyframe_domain([dp.series_domain(name, dp.atom_domain(T="i32")) for name in edges]),
        dp.frame_distance(dp.symmetric_distance()),
        dp.zero_concentrated_divergence(),
        d_in=[Bound(per_group=1)],
        d_out=nextafter(request["rho"] / REPLACED_OVER_ADDED, 0.0),
        # Cuts between codes: with keys there would be a bin more, for missing values.
        cuts={name: list(range(len(cuts) - 2)) for name, cuts in edges.items()},
        algorithm={"mst": dp.mbi.MST(), "aim": dp.mbi.AIM()}[request["algorithm"]],
    )[0]
    planned = time.perf_counter()
    model = measurement(codes.lazy())
    measured = time.perf_counter()
    drawn = model.synthesize(rows=len(table), method="sample")
    random = np.random.default_rng()
    released = {}
    for name, cuts in edges.items():
        bins = drawn[name].to_numpy().astype(np.int64)
        places = random.uniform(cuts[bins], cuts[bins + 1])
        released[name] = np.floor(places).astype(np.int64)
    end = time.perf_counter()
    polars.DataFrame(released).write_csv(folder / "released.csv")
    times = {
        "plan": planned - start,
        "measure and fit": measured - planned,
        "draw": end - measured,
        "all": end - start,
    }
    (folder / "times.json").write_text(json.dumps(times))


if __name__ == "__main__":
    main()
