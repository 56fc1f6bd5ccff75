"""Python builds: a project function over pinned inputs, ``(spark, inputs) -> DataFrame``; a third
parameter is given the parameters of the run."""

from __future__ import annotations

import hashlib
import inspect
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from datetime import date
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Never

from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import BuildFailed, LakeGuardError
from lakeguard_sdk.model.run import PythonBuild
from openlaketx.engine.shown_values import masked_message
from openlaketx.engine.spark.errors import SPARK_ERRORS, reason, worker_error
from openlaketx.engine.spark.run_settings import settle
from openlaketx.engine.spark.runtime import runtime_of
from openlaketx.extract.batch import Batch
from openlaketx.extract.frame_lineage import Reads
from openlaketx.extract.pinned_inputs import pinned_frames
from openlaketx.extract.query import columns_of, typed_parameters

_ABOUT_CODE = (NameError, AttributeError, ImportError)
"""Errors whose messages contain names, but no row values."""


def read_python(
    session: SparkSession,
    build: PythonBuild,
    dataset: str,
    project: str,
    load: LoadType = LoadType.APPEND,
) -> Batch | None:
    """The frame that the function returns; None if no incremental input has new rows.

    Runs exactly the bytes that were applied. Changes that the function makes to views and settings
    of the session are undone, so they do not affect how files are written.
    """
    code = _Code(build, dataset, Path(project).resolve())
    reads = Reads()
    inputs = pinned_frames(session, build.inputs, dataset, load, reads)
    if inputs is None:
        return None
    given = MappingProxyType(typed_parameters(build.parameters))
    frame = runtime_of(session).settled(code.call(session, MappingProxyType(inputs), given))
    for table in session.catalog.listTables():
        if table.isTemporary:
            session.catalog.dropTempView(table.name)
    settle(session)
    return Batch(
        frame=frame,
        live=columns_of(frame, dataset),
        inputs=tuple(dict.fromkeys(pin.input for pin in build.inputs.values())),
        position=None,
        explain=code.explain,
        confirm=lambda: None,
        reads=reads,
    )


@dataclass(frozen=True)
class _Code:
    """The function named in a definition; its errors report file, line and function."""

    build: PythonBuild
    dataset: str
    project: Path

    def call(
        self,
        session: SparkSession,
        inputs: Mapping[str, DataFrame],
        parameters: Mapping[str, str | date],
    ) -> DataFrame:
        """A function with a third parameter is given the parameters of the run."""
        content = self._content()
        try:
            with _loaded_module(self._file, content, self.project) as module:
                function = self._function(vars(module))
                wanted = len(inspect.signature(function).parameters)
                found = function(*(session, inputs, parameters)[: max(wanted, 2)])
        except (LakeGuardError, KeyboardInterrupt):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an error of the build
            raise self._failed(f"{self._place(error)}: {_error_message(error)}") from None
        if not isinstance(found, DataFrame):
            raise self._failed(
                f"{self._name} returned a {type(found).__name__} instead of a DataFrame"
            )
        if found.sparkSession is not session:
            raise self._failed(
                f"{self._name} returned a frame of another session: use the given session"
            )
        return found

    def explain(self, error: Exception) -> LakeGuardError:
        failure = worker_error(error, self._is_ours)
        if failure is None or not failure.file:
            return self._failed(f"{self._name}: {failure.message if failure else reason(error)}")
        return self._failed(
            f"{self._at(failure.file, failure.line, failure.function)}: {failure.message}"
        )

    @property
    def _file(self) -> Path:
        return (self.project / self.build.file).resolve()

    @property
    def _name(self) -> str:
        return f"{self.build.function} of {self.build.file}"

    def _content(self) -> bytes:
        if not self._file.is_relative_to(self.project):
            raise self._failed(f"{self.build.file} is not in the project")
        try:
            content = self._file.read_bytes()
        except OSError as error:
            raise self._failed(f"{self.build.file} cannot be read: {error.strerror}") from None
        if hashlib.sha256(content).hexdigest() != self.build.sha256:
            raise self._failed(f"{self.build.file} changed since it was applied")
        return content

    def _function(self, names: Mapping[str, Any]) -> Callable[..., Any]:
        found: Callable[..., Any] | None = names.get(self.build.function)
        if not callable(found):
            raise self._failed(f"{self.build.file} has no function {self.build.function}")
        return found

    def _place(self, error: BaseException) -> str:
        """The innermost line of the project in the traceback."""
        if isinstance(error, SyntaxError) and error.filename and self._is_ours(error.filename):
            return self._at(error.filename, error.lineno or 1, "")
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            if self._is_ours(frame.filename):
                return self._at(frame.filename, frame.lineno or 1, frame.name)
        return self._name

    def _at(self, file: str, line: int, function: str) -> str:
        inside = f", in {function}" if function.isidentifier() else ""
        return f"{Path(file).resolve().relative_to(self.project)}, line {line}{inside}"

    def _is_ours(self, file: str) -> bool:
        path = Path(file).resolve()
        return path.is_relative_to(self.project) and "site-packages" not in path.parts

    def _failed(self, why: str) -> BuildFailed:
        return BuildFailed(dataset=self.dataset, reason=why)


def _error_message(error: BaseException) -> str:
    if isinstance(error, SPARK_ERRORS):
        return reason(error)
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}"
    line = next((line for line in str(error).splitlines() if line.strip()), "")
    kind = type(error).__name__
    message = f"{kind}: {line}" if line else kind
    return message if isinstance(error, _ABOUT_CODE) else masked_message(message, kind)


# Project modules, loaded for one run and unloaded afterwards.

_NAME = "lakeguard_build"
_alone = threading.Lock()


@contextmanager
def _loaded_module(file: Path, content: bytes, project: Path) -> Iterator[ModuleType]:
    """Execute ``content`` as a module, with its neighbours importable.

    Neighbours are the modules beside it and at the project root, read again by every run. Functions
    of the module are pickled by value, because Spark workers cannot import the project.

    One thread at a time, because ``sys.modules`` is global. Prints go to stderr: stdout is for
    data.
    """
    with _alone, redirect_stdout(sys.stderr), _importing([file.parent, project]):
        module = ModuleType(_NAME)
        module.__file__ = str(file)
        sys.modules[_NAME] = module
        _send_by_value(module)
        try:
            exec(compile(content, str(file), "exec"), module.__dict__)  # noqa: S102 - applied code
            yield module
        finally:
            _forget(_NAME)


class _FreshLoader(SourceFileLoader):
    """Reads the current source and bypasses Python's bytecode cache."""

    def path_stats(self, path: str) -> Never:
        raise OSError(path)

    def exec_module(self, module: ModuleType) -> None:
        """Removes references to this class, which Spark workers cannot import."""
        module.__loader__ = SourceFileLoader(self.name, self.path)
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__
        _send_by_value(module)
        super().exec_module(module)


class _Neighbours:
    """Finds modules in the given folders before installed ones; the standard library wins."""

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
