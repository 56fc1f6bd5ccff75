"""Benchmarks: ``python -m bench [name]`` prints a table and keeps ``bench/results/<name>.json``."""
