"""The file that ``build.python`` names: it is parsed to be judged, and never run here."""

from __future__ import annotations

import ast
import hashlib
import warnings
from pathlib import PurePosixPath

from lakeguard.registry.fields import Fields
from lakeguard.registry.nodes import Scalar
from lakeguard.registry.project_files import ProjectFiles, undecodable
from lakeguard_sdk.definition import FromPython
from lakeguard_sdk.errors import BadPython, DefinitionError, Place, SecretValue
from lakeguard_sdk.secret_values import holds_secret
from lakeguard_sdk.spelling import did_you_mean

MAX_BYTES = 1_000_000
SHAPE = "jobs/orders.py:build"


def read_python_build(files: ProjectFiles, build: Fields) -> FromPython | None:
    """``file:function`` with the hash of the file, or None with the mistake told."""
    scalar = build.scalar("python", required=True)
    if scalar is None:
        return None
    path, colon, function = scalar.value.rpartition(":")
    if not colon or not function.isidentifier():
        build.wrong(scalar, "python", f"write a file and a function of it, {SHAPE}")
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
        return _bad(place, f"not readable as Python: {error.msg}")
    except (ValueError, RecursionError, MemoryError):
        return _bad(Place(file=file), "not readable as Python")
    return None


def _function_error(
    build: Fields, scalar: Scalar, file: str, data: bytes, function: str
) -> DefinitionError | None:
    """The last of a name counts, as it does when the file runs."""
    found = {
        item.name: item
        for item in _parsed(data).body
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    if function not in found:
        start = len(scalar.value) - len(function)
        place = build.document.place_within(scalar, start, len(function))
        hint = did_you_mean(function, found)
        return _bad(place, f"{file} has no function {function!r} at its top level", hint)
    item = found[function]
    place = Place(file=file, line=item.lineno, column=item.col_offset + 1)
    if isinstance(item, ast.AsyncFunctionDef):
        return _bad(place, f"{function} is async; write a plain function")
    if not _takes_two(item.args):
        return _bad(place, f"write def {function}(spark, inputs), two parameters and no others")
    return None


def _takes_two(args: ast.arguments) -> bool:
    named = len(args.posonlyargs) + len(args.args)
    return named == 2 and not args.kwonlyargs and args.vararg is None and args.kwarg is None


def _parsed(data: bytes) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a file warns of is for those who run it
        return ast.parse(data)


def _bad(place: Place, problem: str, hint: str = "") -> BadPython:
    return BadPython(place, problem=problem, hint=hint)
