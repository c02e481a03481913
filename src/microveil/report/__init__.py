"""Reports: HTML pages that open from disk, for custodian or public; figures are of `measures`."""

from microveil.report.chart import Spread
from microveil.report.comparison import comparison_report
from microveil.report.comparison_map import draw_map, drawable
from microveil.report.key_figures import KeyFigure, key_figures
from microveil.report.pages import custodian_report, demonstration_report, publishable_report
from microveil.report.risk_utility import MapPoint, risk_utility_section

__all__ = [
    "KeyFigure",
    "MapPoint",
    "Spread",
    "comparison_report",
    "custodian_report",
    "demonstration_report",
    "draw_map",
    "drawable",
    "key_figures",
    "publishable_report",
    "risk_utility_section",
]
