"""A release by MST or AIM of dpmm: run by that library's interpreter, without microveil.

python release_dpmm.py FOLDER reads and writes what release_opendp.py does, of the budget epsilon
and delta.
"""

import json
import sys
import time
from pathlib import Path

import pandas
from dpmm.models.aim import AIMGM
from dpmm.models.mst import MSTGM


def main() -> None:
    """Draw one release and time its steps; importing libraries is no part of them."""
    folder = Path(sys.argv[1])
    request = json.loads((folder / "request.json").read_text())
    table = pandas.read_csv(folder / "bins.csv")
    start = time.perf_counter()
    kind = {"mst": MSTGM, "aim": AIMGM}[request["algorithm"]]
    model = kind(epsilon=request["epsilon"], delta=request["delta"])
    model.set_domain(request["sizes"])
    model.fit(table)
    fitted = time.perf_counter()
    drawn = model.generate(n_records=len(table))
    end = time.perf_counter()
    drawn[table.columns].to_csv(folder / "drawn.csv", index=False)
    steps = {"measure and fit": fitted - start, "draw": end - fitted}
    (folder / "steps.json").write_text(json.dumps(steps))


if __name__ == "__main__":
    main()
