"""How many definitions of each kind there are."""

from __future__ import annotations

from lakeguard.services.plain_text import plural
from lakeguard_sdk.model.definitions import Definitions

_ALWAYS = {
    "sources": ("source", "sources"),
    "datasets": ("dataset", "datasets"),
    "rules": ("rule", "rules"),
    "policies": ("policy", "policies"),
}
_OPTIONAL = {
    "targets": ("target", "targets"),
    "jobs": ("job", "jobs"),
    "profiles": ("schema profile", "schema profiles"),
    "catalogue": ("catalogue rule", "catalogue rules"),
}


def counts_of(definitions: Definitions) -> dict[str, int]:
    """By kind, with the rules of all datasets; optional kinds only where there are any."""
    rules = sum(len(dataset.rules) for dataset in definitions.datasets)
    counts = {key: len(getattr(definitions, key, ())) for key in (*_ALWAYS, *_OPTIONAL)}
    counts["rules"] = rules
    return {key: count for key, count in counts.items() if count or key in _ALWAYS}


def counted(definitions: Definitions) -> str:
    """``5 sources · 9 datasets · 31 rules · 4 policies``."""
    words = _ALWAYS | _OPTIONAL
    counts = counts_of(definitions)
    return " · ".join(plural(count, *words[key]) for key, count in counts.items())
