"""A function of the project over pinned inputs: ``(spark, inputs) -> DataFrame``."""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.errors import BuildFailed, LakeGuardError
from lakeguard_sdk.run import PythonBuild
from lakeguard_sdk.words import LoadType
from openlaketx.engine.python_errors import worker_error
from openlaketx.engine.runtime import runtime_of
from openlaketx.engine.session import settle
from openlaketx.engine.shown_values import foreign_words
from openlaketx.engine.spark_errors import SPARK_ERRORS, reason
from openlaketx.extract.batch import Batch
from openlaketx.extract.inputs import pinned_frames
from openlaketx.extract.python_module import loaded_module
from openlaketx.extract.query import columns_of

_ABOUT_CODE = (NameError, AttributeError, ImportError)
"""Errors whose messages hold names, and no value of a row."""


def read_python(
    session: SparkSession,
    build: PythonBuild,
    dataset: str,
    project: str,
    load: LoadType = LoadType.APPEND,
) -> Batch | None:
    """The frame that the function makes; None where an incremental input gained no row.

    Only the bytes that were applied are run. What the function does to its session, views and
    settings, is undone: how files are written does not depend on it.
    """
    code = _Code(build, dataset, Path(project).resolve())
    inputs = pinned_frames(session, build.inputs, dataset, load)
    if inputs is None:
        return None
    frame = runtime_of(session).settled(code.call(session, MappingProxyType(inputs)))
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
    )


@dataclass(frozen=True)
class _Code:
    """The function that a definition names; every failure of it tells file, line and function."""

    build: PythonBuild
    dataset: str
    project: Path

    def call(self, session: SparkSession, inputs: Mapping[str, DataFrame]) -> DataFrame:
        content = self._content()
        try:
            with loaded_module(self._file, content, self.project) as module:
                found = self._function(vars(module))(session, inputs)
        except (LakeGuardError, KeyboardInterrupt):
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is the build's, whatever it is
            raise self._failed(f"{self._place(error)}: {_words(error)}") from None
        if not isinstance(found, DataFrame):
            raise self._failed(f"{self._name} returned a {type(found).__name__} and no DataFrame")
        if found.sparkSession is not session:
            raise self._failed(
                f"{self._name} returned a frame of another session: use the one that it is given"
            )
        return found

    def explain(self, error: Exception) -> LakeGuardError:
        told = worker_error(error, self._is_ours)
        if told is None or not told.file:
            return self._failed(f"{self._name}: {told.message if told else reason(error)}")
        return self._failed(f"{self._at(told.file, told.line, told.function)}: {told.message}")

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
        """The deepest line of the project's own that the error passed through."""
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


def _words(error: BaseException) -> str:
    if isinstance(error, SPARK_ERRORS):
        return reason(error)
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}"
    line = next((line for line in str(error).splitlines() if line.strip()), "")
    kind = type(error).__name__
    told = f"{kind}: {line}" if line else kind
    return told if isinstance(error, _ABOUT_CODE) else foreign_words(told, kind)
