"""A release by MST or AIM of OpenDP: run by the peers' interpreter, without microveil.

python release_opendp.py FOLDER reads request.json and bins.csv, the bins of every record, and
writes drawn.csv, the bins of new ones, and steps.json. The request names the algorithm, the rho
with one record added or removed, the number of bins of each column, and the counts of columns that
are known already, with the standard deviations of their noise.
"""

import json
import sys
import time
from math import nextafter
from pathlib import Path

import mbi
import numpy as np
import opendp.extras.mbi._mst as mst
import opendp.prelude as dp
import polars
from opendp.extras.polars import Bound


def refusing_no_plan_of_its_own(budget: float) -> float:
    """Lower a budget by more than OpenDP's next float.

    The sum of the selections' shares is rounded up, by more than one float of each, and then
    found to be above the whole: MST of 13 columns is refused with most budgets.
    """
    return budget * (1 - 2**-40)


def known_table(
    cuts: dict[str, list[int]], known: dict[str, list[list[float]]], n_records: int
) -> tuple[dp.mbi.ContingencyTable, object]:
    """Hand counts that are known to OpenDP, and fit with the number of records, which is public."""

    def fitted(domain, loss, *, potentials=None, iters=1000):  # noqa: ANN001, ANN202
        return mbi.estimation.mirror_descent(
            domain, loss, known_total=n_records, potentials=potentials, iters=iters
        )

    def weighted(counts: list[float], deviations: np.ndarray, name: str) -> mbi.LinearMeasurement:
        """Divide counts by their deviations: a measurement of mbi has one for all."""
        return mbi.LinearMeasurement(
            np.array(counts) / deviations,
            (name,),
            1.0,
            lambda factor: factor.datavector() / deviations,
        )

    measured = {
        name: weighted(counts, np.array(deviations), name)
        for name, (counts, deviations) in known.items()
    }
    keys = {
        name: [
            f"({low}, {high}]" for low, high in zip(["-inf", *ends], [*ends, "inf"], strict=True)
        ]
        for name, ends in cuts.items()
    }
    domain = mbi.Domain.fromdict({name: len(labels) for name, labels in keys.items()})
    table = dp.mbi.ContingencyTable(
        keys=keys,
        cuts=cuts,
        marginals={(name,): measurement for name, measurement in measured.items()},
        model=fitted(domain, list(measured.values()), iters=1),
    )
    return table, fitted


def main() -> None:
    """Draw one release and time its steps; importing libraries is no part of them."""
    folder = Path(sys.argv[1])
    request = json.loads((folder / "request.json").read_text())
    dp.enable_features("contrib")
    mst.prior = refusing_no_plan_of_its_own
    table = polars.read_csv(folder / "bins.csv").cast(polars.Int32)
    # Cuts between bins: with keys there would be a bin more, for missing values.
    cuts = {name: list(range(size - 1)) for name, size in request["sizes"].items()}
    kind = {"mst": dp.mbi.MST, "aim": dp.mbi.AIM}[request["algorithm"]]
    start = time.perf_counter()
    before, algorithm = None, kind()
    if request["known"]:
        before, fitted = known_table(cuts, request["known"], len(table))
        algorithm = kind(oneway="unkeyed", estimator=fitted)
    measurement = dp.mbi.make_contingency_table(
        dp.lazyframe_domain([dp.series_domain(name, dp.atom_domain(T="i32")) for name in cuts]),
        dp.frame_distance(dp.symmetric_distance()),
        dp.zero_concentrated_divergence(),
        d_in=[Bound(per_group=1)],
        d_out=nextafter(request["rho"], 0.0),
        cuts=cuts,
        table=before,
        algorithm=algorithm,
    )[0]
    planned = time.perf_counter()
    model = measurement(table.lazy())
    measured = time.perf_counter()
    drawn = model.synthesize(rows=len(table), method="sample")
    end = time.perf_counter()
    drawn.write_csv(folder / "drawn.csv")
    steps = {"plan": planned - start, "measure and fit": measured - planned, "draw": end - measured}
    (folder / "steps.json").write_text(json.dumps(steps))


if __name__ == "__main__":
    main()
