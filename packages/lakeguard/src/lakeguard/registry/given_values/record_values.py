"""Stores the values of loaded rows that an export would write differently.

Each set of values of a definition is a revision, beside the definition and not part of it: another
spelling of the same values changes no definition.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from lakeguard.registry import queries
from lakeguard.registry.kinds import Key, gathered
from lakeguard.registry.lazy_definitions import read_state
from lakeguard.registry.rows.write_rows import WrittenRow, written_rows
from lakeguard.registry.snapshot import RegistryState
from lakeguard.state import outbox
from lakeguard.state.schema import given_values
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import NotRegistered
from lakeguard_sdk.model.given_values import GivenRow, GivenValue, GivenValues
from lakeguard_sdk.security.secret_values import holds_secret

REPLACED_WHOLE = ("quality_rules",)
"""Tables whose rows are read as a whole: what a row omits is not as it was before."""

_Place = tuple[str, tuple[str, ...]]
"""Table and member: a row of a definition."""


class _Stored(NamedTuple):
    revision: int
    values: tuple[GivenValue, ...]


def read_given(tx: Transaction) -> GivenValues:
    """The values of every registered definition, by kind and name."""
    names = {(e.kind, e.key): (e.kind, e.name) for e in read_state(tx).entries.values()}
    return {
        names[key]: stored.values
        for key, stored in _stored(tx).items()
        if key in names and stored.values
    }


def record_given(tx: Transaction, rows: Sequence[GivenRow], at: datetime) -> None:
    """Store what the rows gave, for the definitions as they are now."""
    if not rows:
        return
    state, stored = read_state(tx), _stored(tx)
    written = _written(state)
    given: dict[Key, list[GivenRow]] = {}
    for row in rows:
        given.setdefault(row.definition, []).append(row)
    changed: list[dict[str, Any]] = []
    for key, found in given.items():
        if (entry := state.entries.get(key)) is None:
            raise NotRegistered(dataset=key[1] if key[0] == "dataset" else f"{key[0]} {key[1]}")
        before = stored.get((entry.kind, entry.key), _Stored(0, ()))
        values = _revised(before.values, found, written[key])
        if values != before.values:
            changed.append(
                {
                    "org_id": tx.org_id,
                    "kind": entry.kind,
                    "definition_key": entry.key,
                    "revision": before.revision + 1,
                    "given": json.dumps(values, ensure_ascii=False, separators=(",", ":")),
                    "given_at": at,
                    "given_by": tx.actor,
                }
            )
    outbox.record(tx, given_values, changed, at)


def _stored(tx: Transaction) -> dict[Key, _Stored]:
    """By kind and the registry's key, which does not change with the name."""
    return {
        (row.kind, row.definition_key): _Stored(row.revision, _values(row.given))
        for row in tx.execute(queries.current_given_values(tx.org_id))
    }


def _values(text: str) -> tuple[GivenValue, ...]:
    return tuple(
        GivenValue(table, tuple(member), column, ours, given)
        for table, member, column, ours, given in json.loads(text)
    )


def _written(state: RegistryState) -> dict[Key, dict[_Place, WrittenRow]]:
    """The rows of every definition, as an export writes them."""
    held = state.open_all(state.entries.values())
    definitions = gathered(held[key].definition for key in sorted(held))
    dataset_ids = {e.name: e.key for e in state.entries.values() if e.kind == "dataset"}
    found: dict[Key, dict[_Place, WrittenRow]] = {key: {} for key in state.entries}
    for row in written_rows(definitions, dataset_ids):
        found[row.definition][row.table, row.member] = row
    return found


def _revised(
    before: Iterable[GivenValue], rows: Iterable[GivenRow], written: Mapping[_Place, WrittenRow]
) -> tuple[GivenValue, ...]:
    """Earlier values that still hold, and those of the rows, except possible secrets. The first of
    two rows counts."""
    given: dict[_Place, Mapping[str, str]] = {}
    for row in rows:
        given.setdefault((row.table, row.member), row.values)
    found = [value for value in before if _holds(value, given, written)]
    for (table, member), texts in given.items():
        ours = written.get((table, member))
        if ours is None:  # the row removed a column
            continue
        known = ours.known
        found += [
            GivenValue(table, member, column, known[column], text)
            for column, text in texts.items()
            if column in known and text != ours.text(column) and not holds_secret(text)
        ]
    return tuple(sorted(found, key=lambda value: value[:3]))


def _holds(
    value: GivenValue,
    given: Mapping[_Place, Mapping[str, str]],
    written: Mapping[_Place, WrittenRow],
) -> bool:
    place = (value.table, value.member)
    row = written.get(place)
    if row is None or row.known.get(value.column) != value.ours:
        return False
    again = given.get(place, {})
    return value.column not in again and not (again and value.table in REPLACED_WHOLE)
