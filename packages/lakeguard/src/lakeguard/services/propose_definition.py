"""Propose definitions of a source and its dataset from a preview of its files."""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import yaml

from lakeguard.gate.grammar.unparse import column_text
from lakeguard.gate.rules.compile import define_rule
from lakeguard.gate.rules.parse import parse_rule
from lakeguard.insight.suggestions import Suggestion
from lakeguard.registry.editing.export import definition_files
from lakeguard.registry.load_folder import load_folder
from lakeguard.services.definition_errors import with_source_lines
from lakeguard.services.draft_rules import defined
from lakeguard.services.plain_text import escaped
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, Severity
from lakeguard_sdk.errors import AlreadyExists
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    RuleDefinition,
    SourceDefinition,
)
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.source_preview import SourcePreview


def propose(
    dataset: DatasetName,
    path: str,
    sketch: SourcePreview,
    *,
    owner: str,
    domain: str,
    suggested: Sequence[Suggestion] = (),
) -> Definitions:
    """A source and a bronze dataset that loads it.

    New files of a pattern are appended; a single file or table is fully reloaded. The key becomes a
    rule, not a load key: duplicates are reported, not dropped. Other suggested rules only warn, so
    that bronze keeps data as received.
    """
    source = SourceDefinition(
        source=dataset.name, format=sketch.format, path=path, options=sketch.options, owner=owner
    )
    return Definitions(
        sources=(source,),
        datasets=(
            DatasetDefinition(
                dataset=dataset,
                owner=owner,
                domain=domain,
                build=FromSource(source=dataset.name),
                load=Load(type=LoadType.APPEND if glob.has_magic(path) else LoadType.FULL),
                columns=tuple(
                    ColumnDefinition(name=column.name, type=column.type)
                    for column in sketch.columns
                ),
                rules=(
                    *key_rules(sketch),
                    *(defined(item, Severity.WARN) for item in suggested),
                ),
            ),
        ),
    )


def key_rules(sketch: SourcePreview) -> list[RuleDefinition]:
    """Rules for the detected key, and at least one row."""
    texts = [f"not_null({column_text(name)})" for name in sketch.keys]
    if sketch.keys:
        texts.append(f"unique({', '.join(map(column_text, sketch.keys))})")
    if sketch.rows:
        texts.append("row_count(min=1)")
    return [define_rule(parse_rule(text), rule_id=None, severity=None) for text in texts]


def write_new(
    folder: Path,
    definitions: Definitions,
    accept: Callable[[Definitions], object] | None = None,
    instead: str = "source add ANOTHER-NAME PATTERN",
    suggested: Sequence[Suggestion] = (),
) -> list[str]:
    """Writes the definition files, all or none; ``AlreadyExists`` if one exists.

    Nothing is written if loading them fails or ``accept`` raises. ``instead`` is the suggested
    command if a file exists. Suggested rules get their reason as a comment.
    """
    reasons = {item.rule: item.why for item in suggested}
    texts = {
        name: with_reasons(text, reasons) for name, text in definition_files(definitions).items()
    }
    for name in texts:
        if (folder / name).exists():
            raise AlreadyExists(place=name, command=instead)
    with tempfile.TemporaryDirectory(prefix="proposed-") as trial:
        _write(Path(trial), texts)
        with with_source_lines(Path(trial)):
            loaded = load_folder(Path(trial))
            if accept is not None:
                accept(loaded)
    _write(folder, texts)
    return sorted(texts)


def _write(folder: Path, texts: dict[str, str]) -> None:
    written: list[Path] = []
    try:
        for name, text in texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                written.append(path)
                file.write(text)
    except OSError:
        for path in written:
            path.unlink()
        raise


# Reasons of suggested rules, as YAML comments.


def with_reasons(text: str, reasons: Mapping[str, str]) -> str:
    """The same file with a comment above each rule that has a reason."""
    rules = (yaml.safe_load(text) or {}).get("rules") or []
    comments = iter([reasons.get(_rule(item)) for item in rules])
    return "".join(_commented(text.splitlines(keepends=True), comments)) if reasons else text


def _rule(item: object) -> str:
    return str(item["rule"] if isinstance(item, dict) else item)


def _commented(lines: list[str], comments: Iterator[str | None]) -> Iterator[str]:
    """Items of ``rules:`` start at column 0; continuation lines are indented."""
    inside = False
    for line in lines:
        inside = line.startswith("rules:") or (inside and line.startswith(("-", " ")))
        if inside and line.startswith("- ") and (reason := next(comments, None)):
            yield f"# {escaped(reason)}\n"
        yield line
