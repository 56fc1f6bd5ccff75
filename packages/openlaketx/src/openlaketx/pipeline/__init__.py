"""The corridor: one run from its plan to its result.

Nothing is imported here: what a worker needs to wait for a run needs no Spark.
"""
