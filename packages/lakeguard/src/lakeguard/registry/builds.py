"""The ``build`` and the ``source`` of a dataset file: where its rows come from."""

from __future__ import annotations

from lakeguard.registry.fields import LONGEST_PATH, Fields
from lakeguard.registry.nodes import Block, Scalar
from lakeguard.registry.project_files import ProjectFiles
from lakeguard.registry.python_files import read_python_build
from lakeguard.registry.sql_files import read_sql_build
from lakeguard_sdk.definition import FromFrame, FromPython, FromSource, FromSql
from lakeguard_sdk.errors import MissingKey

BUILD_KEYS = ("sql", "python")
FRAME = "frame"
"""``build: frame``: a program brings the rows."""
SOURCE_KEYS = ("name", "object", "external_id")
_SHAPE = "{sql: sql/orders.sql}"

Built = FromSource | FromSql | FromPython | FromFrame


def read_build(fields: Fields, files: ProjectFiles) -> Built | None:
    """What builds the dataset, or None with the mistake among the findings."""
    has_source, has_build = fields.node("source"), fields.node("build")
    if has_source and has_build:
        fields.wrong(fields.block.keys["build"], "build", "write source or build, not both")
    elif has_source:
        return _source_build(fields)
    elif has_build:
        return _code_build(fields, files)
    else:
        first = next(iter(fields.block.keys.values()), fields.block)
        fields.add(MissingKey(fields.document.place(first), key="source or build"))
    return None


def _code_build(fields: Fields, files: ProjectFiles) -> Built | None:
    node = fields.node("build")
    if isinstance(node, Scalar) and node.value == FRAME:
        return FromFrame()
    block = fields.block_at("build", f"{_SHAPE}, or {FRAME}")
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
    """``source: crm``, or the source and what of it is read."""
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
