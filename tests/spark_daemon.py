"""What starts Spark's Python processes in tests: they find their imports made.

A task that is killed takes its process with it, and the next one would import all anew.
"""

if __name__ == "__main__":  # other tests collect this file where PySpark is not installed
    from pyspark.daemon import manager

    import microveil.protect.spark.clusters
    import microveil.protect.spark.counts
    import microveil.protect.spark.draws  # noqa: F401

    manager()
