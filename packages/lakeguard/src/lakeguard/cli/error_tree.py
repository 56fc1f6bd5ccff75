"""Every error there is, whichever part of the tree a command happens to use."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

import lakeguard_sdk
from lakeguard_sdk.errors import LakeGuardError

_BRANCHES = [
    import_module(f"{lakeguard_sdk.__name__}.{module.name}")
    for module in iter_modules(lakeguard_sdk.__path__)
    if module.name.endswith("_errors")
]
"""Modules that hold a part of the tree: a class is found once its module is imported."""


def error_classes(root: type[LakeGuardError] = LakeGuardError) -> Iterator[type[LakeGuardError]]:
    """The error tree, parents before their children."""
    yield root
    for child in root.__subclasses__():
        yield from error_classes(child)
