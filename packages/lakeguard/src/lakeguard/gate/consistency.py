"""Evidence against itself and against the definition: it must describe one thing."""

from __future__ import annotations

from lakeguard.gate.case import CaseFacts
from lakeguard.gate.wording import counted
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.measure import RowCount, measure_key
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.words import Scope

_BATCH_ROWS = measure_key(RowCount())
_TABLE_ROWS = measure_key(RowCount(scope=Scope.TABLE))


def contradictions(facts: CaseFacts, evidence: Evidence) -> list[str]:
    """What the evidence says of itself that cannot all be true; empty if it is whole."""
    found = []
    if evidence.dataset != facts.dataset:
        found.append(f"the evidence is about {evidence.dataset}")
    found += _schema(evidence.table_schema, facts.declared)
    found += _rows(evidence)
    found += _measures(evidence)
    found += _aside(facts, evidence)
    return found


def _schema(staged: TableSchema, declared: TableSchema) -> list[str]:
    found = []
    if len(set(staged.names)) != len(staged.names):
        found.append("a staged column stands twice")
    for column in declared.columns:
        staged_type = staged.type_of(column.name)
        if staged_type != column.type:
            is_what = "missing" if staged_type is None else f"staged as {staged_type}"
            found.append(f"column {column.name}, declared {column.type}, is {is_what}")
    extra = sorted(set(staged.names) - set(declared.names))
    return found + [f"column {name} is staged but not declared" for name in extra]


def _rows(evidence: Evidence) -> list[str]:
    found = []
    in_files = sum(file.rows for file in evidence.files)
    if min((evidence.rows, evidence.table_rows, *(file.rows for file in evidence.files))) < 0:
        found.append("a number of rows is negative")
    changes = evidence.changes
    if changes is None:
        if evidence.rows != in_files:
            found.append(f"{evidence.rows:,} rows, but the files hold {in_files:,}")
    elif evidence.rows != changes.inserted + changes.updated or in_files < evidence.rows:
        found.append(
            f"{evidence.rows:,} rows, but {changes.inserted:,} were inserted and"
            f" {changes.updated:,} updated, and the files hold {in_files:,}"
        )
    if evidence.table_rows < in_files:
        found.append(f"{in_files:,} rows in a table of {evidence.table_rows:,}")
    paths = [file.path for file in evidence.files]
    if len(set(paths)) != len(paths):
        found.append("a file is listed twice")
    return found


def _measures(evidence: Evidence) -> list[str]:
    found = []
    if _BATCH_ROWS in evidence.unmeasured or _BATCH_ROWS not in evidence.measures:
        found.append("the new rows were not counted")
    for key, rows in ((_BATCH_ROWS, evidence.rows), (_TABLE_ROWS, evidence.table_rows)):
        told = evidence.measures.get(key, rows)
        if told != rows or isinstance(told, bool):
            found.append(f"{rows:,} rows, but {told!r:.60} were counted")
    reasons = sorted(set(evidence.unmeasured.values()))
    if reasons:
        measures = counted(len(evidence.unmeasured), "measure")
        found.append(f"{measures} could not be taken: {'; '.join(reasons[:3])}")
    both = sorted(set(evidence.measures) & set(evidence.unmeasured))
    if both:
        found.append(f"both measured and not: {', '.join(both[:5])}")
    return found


def _aside(facts: CaseFacts, evidence: Evidence) -> list[str]:
    aside = evidence.aside
    if aside is None:
        return []
    found = []
    filed = sum(file.rows for file in aside.files)
    if aside.rows != filed:
        found.append(f"{aside.rows:,} rows were set aside, but their files hold {filed:,}")
    if any(file.rows < 1 for file in aside.files):
        found.append("a file of rows that were set aside holds none")
    for rule_id in sorted({file.rule_id for file in aside.files} - set(facts.aside)):
        found.append(f"rows are filed under {rule_id[:200]}, which sets none aside")
    paths = [file.path for file in aside.files]
    if len(set(paths)) != len(paths):
        found.append("a file of rows that were set aside is listed twice")
    batch = aside.before.get(_BATCH_ROWS)
    if evidence.changes is None and batch not in (None, evidence.rows + aside.rows):
        found.append(
            f"{evidence.rows:,} rows and {aside.rows:,} set aside, but {batch!r:.60} were counted"
        )
    return found
