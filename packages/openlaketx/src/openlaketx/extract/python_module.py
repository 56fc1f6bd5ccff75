"""A module of the project, loaded for one run and forgotten after it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Never

from pyspark import cloudpickle

_NAME = "lakeguard_build"
_alone = threading.Lock()


@contextmanager
def loaded_module(file: Path, content: bytes, project: Path) -> Iterator[ModuleType]:
    """The module that ``content`` is, from its first line on, with its neighbours importable.

    Neighbours are the modules beside it and at the project's root, read anew by every run. What
    the module defines is sent to Spark's workers by value, for they know nothing of the project.
    One thread at a time has a module loaded: Python has one table of modules. What it prints goes
    to the error output, because the other one is for data.
    """
    with _alone, redirect_stdout(sys.stderr), _importing([file.parent, project]):
        module = ModuleType(_NAME)
        module.__file__ = str(file)
        sys.modules[_NAME] = module
        _send_by_value(module)
        try:
            exec(compile(content, str(file), "exec"), module.__dict__)  # noqa: S102 - it was applied
            yield module
        finally:
            _forget(_NAME)


class _FreshLoader(SourceFileLoader):
    """Reads the source as it is now, and none of Python's caches of it."""

    def path_stats(self, path: str) -> Never:
        raise OSError(path)

    def exec_module(self, module: ModuleType) -> None:
        """The module keeps no trace of this class, which workers do not know either."""
        module.__loader__ = SourceFileLoader(self.name, self.path)
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__
        _send_by_value(module)
        super().exec_module(module)


class _Neighbours:
    """Finds modules in the given folders before those installed; the standard ones stay theirs."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = [str(folder) for folder in folders]
        self._found: set[str] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        if name in sys.stdlib_module_names or (path and name.partition(".")[0] not in self._found):
            return None
        spec = PathFinder.find_spec(name, path or self._folders)
        if spec is None or not isinstance(spec.loader, SourceFileLoader):
            return None
        self._found.add(name)
        spec.loader = _FreshLoader(spec.loader.name, spec.loader.path)
        return spec

    def forget(self) -> None:
        for name in self._found & set(sys.modules):
            _forget(name)


@contextmanager
def _importing(folders: Sequence[Path]) -> Iterator[None]:
    neighbours = _Neighbours(folders)
    sys.meta_path.insert(0, neighbours)
    try:
        yield
    finally:
        sys.meta_path.remove(neighbours)
        neighbours.forget()


def _send_by_value(module: ModuleType) -> None:
    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]


def _forget(name: str) -> None:
    module = sys.modules.pop(name)
    cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]
