"""The ``build`` and ``source`` keys of a dataset file."""

from __future__ import annotations

import ast
import hashlib
import warnings
from pathlib import PurePosixPath

from lakeguard.registry.files.project_files import ProjectFiles, undecodable
from lakeguard.registry.text.fields import LONGEST_PATH, Fields
from lakeguard.registry.text.sql_lexing import MAX_CHARACTERS
from lakeguard.registry.text.yaml_nodes import Block, Scalar
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import BadPython, BadSql, DefinitionError, MissingKey, Place, SecretValue
from lakeguard_sdk.model.definitions import (
    FromFrame,
    FromPython,
    FromSource,
    FromSql,
    Pending,
)
from lakeguard_sdk.security.secret_values import holds_secret

BUILD_KEYS = ("sql", "python")
FRAME = "frame"
"""``build: frame``: a program publishes a DataFrame."""
PENDING = "pending"
"""``build: pending``: registered before it is known how it is built."""
SOURCE_KEYS = ("name", "object", "external_id")
_SHAPE = "{sql: sql/orders.sql}"

Built = FromSource | FromSql | FromPython | FromFrame | Pending


def read_build(fields: Fields, files: ProjectFiles) -> Built | None:
    """The build of the dataset, or None after reporting the error."""
    has_source, has_build = fields.node("source"), fields.node("build")
    if has_source and has_build:
        fields.wrong(fields.block.keys["build"], "build", "write source or build, not both")
    elif has_source:
        return _source_build(fields)
    elif has_build:
        return _code_build(fields, files)
    elif not fields.misspelt & {"source", "build"}:
        first = next(iter(fields.block.keys.values()), fields.block)
        fields.add(MissingKey(fields.document.place(first), key="source or build"))
    return None


def _code_build(fields: Fields, files: ProjectFiles) -> Built | None:
    node = fields.node("build")
    if isinstance(node, Scalar) and node.value == FRAME:
        return FromFrame()
    if isinstance(node, Scalar) and node.value == PENDING:
        return Pending()
    block = fields.block_at("build", f"{_SHAPE}, {FRAME} or {PENDING}")
    if block is None:
        return None
    build = Fields(fields.document, block, fields.findings, BUILD_KEYS)
    if build.node("sql") and build.node("python"):
        build.wrong(block.keys["python"], "build", "write sql or python, not both")
        return None
    if build.node("python"):
        return read_python_build(files, build)
    return read_sql_build(files, build)


def _source_build(fields: Fields) -> FromSource | None:
    """``source: crm``, or a mapping with the source and the object to read."""
    node = fields.node("source")
    if not isinstance(node, Block):
        source = fields.word("source")
        return FromSource(source=source) if source else None
    read = Fields(fields.document, node, fields.findings, SOURCE_KEYS)
    source = read.word("name")
    read_object = read.text("object", limit=LONGEST_PATH) or ""
    external_id = read.text("external_id") or ""
    if source is None:
        return None
    return FromSource(source=source, object=read_object, external_id=external_id)


# Python builds: the file is parsed for checks and never executed here.

MAX_BYTES = 1_000_000
SHAPE = "jobs/orders.py:build"


def read_python_build(files: ProjectFiles, build: Fields) -> FromPython | None:
    """``file:function`` with the hash of the file, or None after reporting the error."""
    scalar = build.scalar("python", required=True)
    if scalar is None:
        return None
    path, colon, function = scalar.value.rpartition(":")
    if not colon or not function.isidentifier():
        build.wrong(scalar, "python", f"write FILE:FUNCTION, such as {SHAPE}")
        return None
    data = files.read(build, "python", scalar, path)
    if data is None:
        return None
    file = str(PurePosixPath(path))
    error = _file_error(file, data) or _function_error(build, scalar, file, data, function)
    if error is not None:
        build.add(error)
        return None
    return FromPython(file=file, function=function, sha256=hashlib.sha256(data).hexdigest())


def _file_error(file: str, data: bytes) -> DefinitionError | None:
    if len(data) > MAX_BYTES:
        return _bad(Place(file=file), f"larger than {MAX_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _bad(undecodable(file, data, error), "not UTF-8 text")
    if holds_secret(text):
        return SecretValue(Place(file=file), key=file)
    try:
        _parsed(data)
    except SyntaxError as error:
        place = Place(file=file, line=max(1, error.lineno or 1), column=max(1, error.offset or 1))
        return _bad(place, f"invalid Python: {error.msg}")
    except (ValueError, RecursionError, MemoryError):
        return _bad(Place(file=file), "invalid Python")
    return None


def _function_error(
    build: Fields, scalar: Scalar, file: str, data: bytes, function: str
) -> DefinitionError | None:
    """If a function is defined twice, the last one counts, as at run time."""
    found = {
        item.name: item
        for item in _parsed(data).body
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    if function not in found:
        start = len(scalar.value) - len(function)
        place = build.document.place_within(scalar, start, len(function))
        hint = did_you_mean(function, found)
        return _bad(place, f"{file} has no top-level function {function!r}", hint)
    item = found[function]
    place = Place(file=file, line=item.lineno, column=item.col_offset + 1)
    if isinstance(item, ast.AsyncFunctionDef):
        return _bad(place, f"{function} is async; write a plain function")
    if not _takes_two_or_three(item.args):
        shape = f"def {function}(spark, inputs), or def {function}(spark, inputs, parameters)"
        return _bad(place, f"write {shape}")
    return None


def _takes_two_or_three(args: ast.arguments) -> bool:
    named = len(args.posonlyargs) + len(args.args)
    return named in (2, 3) and not args.kwonlyargs and args.vararg is None and args.kwarg is None


def _parsed(data: bytes) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings are shown when the file runs
        return ast.parse(data)


def _bad(place: Place, problem: str, hint: str = "") -> BadPython:
    return BadPython(place, problem=problem, hint=hint)


# SQL builds: UTF-8 text without secrets.


def read_sql_build(files: ProjectFiles, build: Fields) -> FromSql | None:
    """The SELECT of a build, or None after reporting the error."""
    scalar = build.scalar("sql", required=True)
    if scalar is None:
        return None
    data = files.read(build, "sql", scalar, scalar.value)
    if data is None:
        return None
    file = str(PurePosixPath(scalar.value))
    if len(data) > 4 * MAX_CHARACTERS:
        problem = f"longer than {MAX_CHARACTERS:,} characters"
        build.add(BadSql(Place(file=file), problem=problem, hint=""))
        return None
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        place = undecodable(file, data, error)
        build.add(BadSql(place, problem="not UTF-8 text", hint=""))
        return None
    if holds_secret(text):
        build.add(SecretValue(Place(file=file), key=file))
        return None
    return FromSql(file=file, text=text)
