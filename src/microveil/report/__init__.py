"""Reports: HTML pages that open from disk, for custodian or public; figures are of `measures`."""

from microveil.report.comparison import comparison_report, draw_map
from microveil.report.pages import custodian_report, publishable_report

__all__ = ["comparison_report", "custodian_report", "draw_map", "publishable_report"]
