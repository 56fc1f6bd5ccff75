"""What differs between two revisions, field by field, in words for the reader of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

from lakeguard_sdk.definition import (
    ColumnDefinition,
    DatasetDefinition,
    FromSource,
    FromSql,
    PolicyDefinition,
    RuleDefinition,
    SourceDefinition,
)
from lakeguard_sdk.planning import Change
from lakeguard_sdk.words import Severity


def source_changes(before: SourceDefinition, after: SourceDefinition) -> tuple[Change, ...]:
    return tuple(_differences(_source_words(before), _source_words(after)))


def policy_changes(before: PolicyDefinition, after: PolicyDefinition) -> tuple[Change, ...]:
    return tuple(_differences(_policy_words(before), _policy_words(after)))


def dataset_changes(before: DatasetDefinition, after: DatasetDefinition) -> tuple[Change, ...]:
    return (
        *_differences(_dataset_words(before), _dataset_words(after)),
        *_sql_change(before.build, after.build),
        *_differences(_column_words(before.columns), _column_words(after.columns)),
        *_order_change(before.columns, after.columns),
        *_differences(_rule_words(before.rules), _rule_words(after.rules)),
    )


def rule_line(rule: RuleDefinition) -> str:
    """A rule as a plan shows it; only what differs from the usual is said."""
    severity = "" if rule.severity is Severity.FAIL else f" [{rule.severity}]"
    return f"{rule.expression}{severity}{'' if rule.active else ' [inactive]'}"


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for field in [*before, *(key for key in after if key not in before)]:
        old, new = before.get(field), after.get(field)
        if old != new:
            yield Change(field=field, before=old, after=new)


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _source_words(source: SourceDefinition) -> dict[str, str]:
    options = {f"option {key}": value for key, value in sorted(source.options.items())}
    return {
        "format": source.format,
        "path": source.path,
        **options,
        "active": _flag(source.active),
    }


def _policy_words(policy: PolicyDefinition) -> dict[str, str]:
    return {
        "applies_to": policy.applies_to_layer,
        "type": policy.type,
        "expression": policy.expression,
        "enforcement": policy.enforcement,
        "active": _flag(policy.active),
    }


def _dataset_words(dataset: DatasetDefinition) -> dict[str, str]:
    words = {
        "domain": dataset.domain,
        "owner": dataset.owner,
        "description": dataset.description,
        "active": _flag(dataset.active),
        "parents": ", ".join(dataset.parents),
        "load": dataset.load.type,
    }
    match dataset.build:
        case FromSource(source=source):
            return {**words, "source": source}
        case FromSql(file=file):
            return {**words, "sql file": file}


def _sql_change(before: FromSource | FromSql, after: FromSource | FromSql) -> Iterator[Change]:
    if not isinstance(before, FromSql) or not isinstance(after, FromSql):
        return
    if before.text == after.text:
        return
    old, new = before.text.splitlines(), after.text.splitlines()
    same = sum(block.size for block in SequenceMatcher(None, old, new).get_matching_blocks())
    changed = max(len(old), len(new)) - same
    yield Change(
        field="sql",
        before=f"{len(old)} lines",
        after=f"{len(new)} lines, {changed or 'line breaks'} changed",
    )


def _column_words(columns: tuple[ColumnDefinition, ...]) -> dict[str, str]:
    words: dict[str, str] = {}
    for column in columns:
        words[f"column {column.name}"] = column.type
        if column.tags:
            words[f"column {column.name} tags"] = ", ".join(sorted(column.tags))
        if column.description:
            words[f"column {column.name} description"] = column.description
    return words


def _order_change(
    before: tuple[ColumnDefinition, ...], after: tuple[ColumnDefinition, ...]
) -> Iterator[Change]:
    """Only where the columns that both have stand in another order."""
    old, new = [c.name for c in before], [c.name for c in after]
    kept_old = [name for name in old if name in set(new)]
    kept_new = [name for name in new if name in set(old)]
    if kept_old != kept_new:
        yield Change(field="column order", before=", ".join(old), after=", ".join(new))


def _rule_words(rules: tuple[RuleDefinition, ...]) -> dict[str, str]:
    return {f"rule {rule.rule_id}": rule_line(rule) for rule in rules}
