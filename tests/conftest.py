"""What every test here has at hand."""

from fixtures import (
    pytest_collection_finish,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_pyfunc_call,
    pytest_terminal_summary,
    reference_data,
    reported,
    undrawn,
    unreported,
)
from spark_session import spark

__all__ = [
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_pyfunc_call",
    "pytest_terminal_summary",
    "reference_data",
    "reported",
    "spark",
    "undrawn",
    "unreported",
]
