"""A source of people, and the bronze dataset that it fills."""

from __future__ import annotations


def people_definitions(*columns: str, load: str = "") -> dict[str, str | bytes]:
    """Definitions of both, with columns as YAML writes them."""
    lines = [
        "dataset: bronze.people",
        "owner: tests",
        "domain: shop",
        "source: people",
        *([f"load: {load}"] if load else []),
        "columns:",
        *(f"  {column}" for column in columns),
    ]
    return {
        "definitions/sources/people.yaml": "source: people\nformat: csv\npath: in/*.csv\n",
        "definitions/bronze/people.yaml": "\n".join(lines) + "\n",
    }
