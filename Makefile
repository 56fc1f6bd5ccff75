# People, hooks and .ci/run use the same recipes. Each sets up what it needs.

PYTHON ?= python3
BENCH ?=
ARGS ?=

in_venv := . .venv/environment && .venv/bin
in_two := -n 2 --dist loadgroup --no-loadscope-reorder --durations=20  # ARGS="-n 0" for one process, as a debugger needs it
compile := .venv/bin/uv pip compile --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --quiet $(ARGS)

.PHONY: help setup demo test soak exhaustive runtimes cloud servers check docs decisions bench lock clean
.DEFAULT_GOAL := help

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:  ## virtual environment, Java, packages, Delta jars
	@$(PYTHON) -S setup/bootstrap.py

demo: setup  ## one year of flights through the gate, in demo-lake/
	@$(in_venv)/python -m demo

test: setup  ## what a person runs: everything once, few examples, a little Spark
	@$(in_venv)/pytest $(in_two) -m "not (soak or exhaustive or runtimes or cloud)" $(ARGS)

soak: setup  ## the rest: all of Spark, PostgreSQL, faults, chaos, more examples
	@$(in_venv)/pytest $(in_two) -m "(soak or examples) and not (exhaustive or runtimes)" \
		--hypothesis-profile=steady $(ARGS)

exhaustive: setup  ## soak with every case on every database, and all examples
	@$(in_venv)/pytest $(in_two) -m "(soak or examples or exhaustive) and not (runtimes or cloud)" \
		--hypothesis-profile=whole $(ARGS)

runtimes: setup  ## Spark 3.5, Spark Connect and a cluster
	@.venv/bin/python setup/other_spark.py
	@$(in_venv)/pytest -m runtimes $(ARGS)

cloud: servers  ## a lake in a real S3 server, tables in an Azure emulator, streams of Kafka
	@$(in_venv)/pytest $(in_two) -m "cloud and not exhaustive" tests/cloud $(ARGS)

servers: setup  ## what make cloud starts: builds the S3 server, downloads the others and jars
	@.venv/bin/python setup/s3_server.py > /dev/null
	@.venv/bin/python setup/azure_server.py > /dev/null
	@. .venv/environment && .venv/bin/python -m openlaketx.engine.spark.jars s3 > /dev/null
	@. .venv/environment && .venv/bin/python -m setup.kafka_broker > /dev/null

check: setup  ## ruff, mypy, import-linter
	@$(in_venv)/ruff check .
	@$(in_venv)/ruff format --check .
	@$(in_venv)/mypy
	@$(in_venv)/lint-imports --no-cache

docs: setup  ## the generated pages of docs/
	@$(in_venv)/python -m tools.docs

decisions: setup  ## the recorded decisions, after a deliberate change of semantics
	@$(in_venv)/python -m tools.record_decisions

bench: setup  ## benchmarks, BENCH=name for one of them
	@$(in_venv)/python -m bench $(BENCH)

lock: setup  ## requirements.lock from the pyproject files, ARGS=--upgrade for newer versions
	@$(compile) --extra local --extra s3 --extra traces --group pyproject.toml:dev --group pyproject.toml:demo \
		--no-emit-package lakeguard-sdk packages/*/pyproject.toml -o requirements.lock
	@$(compile) setup/runtimes/spark35.in -o setup/runtimes/spark35.txt
	@$(compile) --group pyproject.toml:build -c requirements.lock -o setup/build.txt

clean:  ## everything that the recipes made, but not the cached jars
	rm -rf .venv .venv-spark35 demo-lake bench/scratch .hypothesis .import_linter_cache .mypy_cache \
		.pytest_cache .ruff_cache dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
