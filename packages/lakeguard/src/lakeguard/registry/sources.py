"""A source file of definitions: where files come from, and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lakeguard.registry.details import read_details
from lakeguard.registry.fields import LONGEST_DESCRIPTION, LONGEST_PATH, Fields
from lakeguard.registry.findings import Findings
from lakeguard.registry.nodes import Document, Node, Scalar
from lakeguard_sdk.definition import SourceDefinition
from lakeguard_sdk.definition_errors import SecretValue, UnknownKey
from lakeguard_sdk.secret_values import is_sensitive_key, looks_secret
from lakeguard_sdk.spelling import did_you_mean
from lakeguard_sdk.words import CSV_ENCODINGS, SourceFormat

KEYS = (
    "source", "format", "path", "options", "owner", "description", "details", "external_id",
    "active",
)  # fmt: skip


def _one_character(value: str) -> str | None:
    return None if len(value) == 1 else "write one character"


def _short(value: str) -> str | None:
    return None if len(value) <= 100 else "longer than 100 characters"


def _encoding(value: str) -> str | None:
    known = {name.lower() for name in CSV_ENCODINGS}
    return None if value.lower() in known else f"write one of {', '.join(CSV_ENCODINGS)}"


OPTIONS: dict[SourceFormat, dict[str, Callable[[str], str | None]]] = {
    SourceFormat.CSV: {
        "delimiter": _one_character,
        "quote": _one_character,
        "escape": _one_character,
        "null_value": _short,
        "encoding": _encoding,
    },
    SourceFormat.JSONL: {},
    SourceFormat.PARQUET: {},
    SourceFormat.DELTA: {},
    SourceFormat.JDBC: {},
}
"""Per format, the options there are, each with what is wrong with a value."""


def source_problems(source: SourceDefinition) -> Iterator[tuple[str, str]]:
    """What is wrong with a source, as key and words, wherever it came from."""
    problem = _path_problem(source.path)
    if problem:
        yield "path", problem
    known = OPTIONS[source.format]
    for key, value in source.options.items():
        if key not in known:
            yield "options", f"{source.format} has no option {key!r}"
        elif looks_secret(value):
            yield "options", f"{key} looks like a secret"
        elif said := known[key](value):
            yield "options", f"{key}: {said}"


def read_source(document: Document, findings: Findings) -> SourceDefinition | None:
    """The definition, or None with every mistake among the findings."""
    before = findings.count
    fields = Fields(document, document.root, findings, KEYS)
    name = fields.word("source")
    file_format = fields.choice("format", SourceFormat)
    path = _path(fields)
    active = fields.flag("active", True)
    options = _options(fields, file_format) if file_format else {}
    details = read_details(fields, "details")
    said = {
        "owner": fields.text("owner") or "",
        "external_id": fields.text("external_id") or "",
        "description": fields.text("description", limit=LONGEST_DESCRIPTION) or "",
    }
    if name is None or file_format is None or path is None or findings.count > before:
        return None
    return SourceDefinition(
        source=name,
        format=file_format,
        path=path,
        options=options,
        details=details,
        active=active,
        **said,
    )


def _path(fields: Fields) -> str | None:
    path = fields.text("path", required=True, limit=LONGEST_PATH)
    if path is None:
        return None
    if looks_secret(path):
        fields.add(SecretValue(fields.place_of("path"), key="path"))
        return None
    problem = _path_problem(path)
    if problem:
        fields.wrong(fields.block.values["path"], "path", problem)
        return None
    return path


def _path_problem(path: str) -> str | None:
    if not path.strip() or len(path) > LONGEST_PATH or not path.isprintable():
        return "write a path on one line, such as data/orders-*.csv"
    if looks_secret(path):
        return "looks like a secret"
    if "://" in path and not path.startswith("file://"):
        return f"{path.partition('://')[0][:20]}:// is not available yet"
    return None


def _options(fields: Fields, file_format: SourceFormat) -> dict[str, str]:
    block = fields.block_at("options", '{delimiter: ";"}')
    if block is None:
        return {}
    known = OPTIONS[file_format]
    options: dict[str, str] = {}
    for key, scalar in block.keys.items():
        node = block.values[key]
        if is_sensitive_key(key) or (isinstance(node, Scalar) and looks_secret(node.value)):
            fields.add(SecretValue(fields.document.place(scalar), key=key))
        elif key not in known:
            hint = did_you_mean(key, known)
            fields.add(UnknownKey(fields.document.place(scalar), key=key, hint=hint))
        else:
            options[key] = _option(fields, key, node, known[key])
    return options


def _option(fields: Fields, key: str, node: Node, problem_with: Callable[[str], str | None]) -> str:
    if not isinstance(node, Scalar):
        fields.wrong(node, key, "write a single value")
        return ""
    problem = problem_with(node.value)
    if problem:
        fields.wrong(node, key, problem)
    return node.value
