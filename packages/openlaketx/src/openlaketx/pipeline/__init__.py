"""Runs: from a plan to a result.

Imports nothing, so that a worker waits for runs without loading Spark.
"""
