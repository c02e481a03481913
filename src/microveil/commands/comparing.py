"""Methods compared on the table of a file, as a function."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from microveil.commands.asking import asked_of
from microveil.compare import Comparison, compare
from microveil.compare.store import opened
from microveil.errors import stands_alone
from microveil.files.disk import written_text
from microveil.measures.analyses import Analyses
from microveil.report import comparison_report, draw_map
from microveil.report.drawing import can_draw

# Of `compare`, beside the arguments of a request.
OF_COMPARISON = ("methods", "runs", "jobs", "linkage")


@stands_alone
def compare_file(
    path: str | Path,
    folder: str | Path,
    *,
    progress: Callable[[int, int], None],
    analyses: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> tuple[Comparison, Path, Path | None]:
    """Compare methods on the table of a file: results, report and map (None if none) in a folder.

    Arguments are those of `compare`, ``analyses`` apart, and those of `protect_file`.
    """
    analysed = dict(analyses or {})
    of_comparison = {n: arguments.pop(n) for n in OF_COMPARISON if n in arguments}
    source, asked = asked_of(
        path,
        typed=True,
        progress=lambda _step: None,
        calculated=Analyses.of(**analysed).columns,
        **arguments,
    )
    asked.pop("method", None)
    found = compare(
        source.frame, folder=folder, progress=progress, **of_comparison, **analysed, **asked
    )
    report = Path(folder) / "report.html"
    page = comparison_report(found)
    with opened(Path(folder), found.description):  # no two processes under one name
        written_text(report, page)
        drawn = draw_map(found, Path(folder) / "map.svg") if can_draw() else None
    return found, report, drawn
