"""What tests of contracts have at hand beside what all have."""

from spark_session import spark

__all__ = ["spark"]
