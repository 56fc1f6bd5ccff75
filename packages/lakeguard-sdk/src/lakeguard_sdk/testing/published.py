"""Assertions on published versions, rows and lineage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lakeguard_sdk.core.dataset_name import parse_address
from lakeguard_sdk.errors import UnknownVersion, WrongArgument
from lakeguard_sdk.testing.decisions import (
    counted,
    fail,
    known_dataset,
    published_version,
    shown,
    unknown,
)
from lakeguard_sdk.testing.lake import Lake

_MOST_SHOWN = 5
"""Rows of each side that a message shows."""


def assert_published(lake: Lake, name: str, version: int | None) -> None:
    """Readers see that version, by a promotion or a rollback; with None, nothing yet."""
    __tracebackhide__ = True
    found = published_version(lake, known_dataset(lake, name))
    if found != version:
        wanted = "nothing" if version is None else f"v{version}"
        fail(f"{name} was expected to show {wanted}, but {shown(found)}")


def assert_versions(lake: Lake, name: str, count: int) -> None:
    """So many versions were promoted, whichever of them is published."""
    __tracebackhide__ = True
    dataset = known_dataset(lake, name)
    found = lake.versions(dataset)
    if len(found) != count:
        listed = ", ".join(f"v{row.version} ({counted(row.row_count, 'row')})" for row in found)
        now = shown(published_version(lake, dataset))
        wanted = counted(count, "version")
        fail(
            f"{name} was expected to have {wanted}, it has {len(found)}: {listed or 'none'}; {now}"
        )


def assert_rows(lake: Lake, address: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Exactly these rows are shown, in any order, each as often as it is listed.

    The columns that the rows name are compared, and no others.
    """
    __tracebackhide__ = True
    known_dataset(lake, address.partition("@")[0])
    try:
        found = lake.client.reader.resolve(parse_address(address))
    except UnknownVersion as error:
        fail(str(error))
    names = _columns(rows)
    known = [column.name for column in found.table_schema.columns]
    for name in names:
        if name not in known:
            fail(unknown("column", name, known))
    there = [{name: row[name] for name in names or known} for row in lake.rows(address)]
    _compare(f"{found.dataset}@v{found.version}", list(map(dict, rows)), there)


def assert_lineage(lake: Lake, child: str, parent: str) -> None:
    """What is published of the child was made of the parent, ``bronze.orders`` or of that version,
    ``bronze.orders@v2``."""
    __tracebackhide__ = True
    made = known_dataset(lake, child)
    known_dataset(lake, parent.partition("@")[0])
    wanted = parse_address(parent)
    if wanted.at is not None:
        raise WrongArgument(
            method="assert_lineage",
            given=f"a time, {parent}",
            call=f'assert_lineage(lake, "{child}", "{wanted.dataset}@v1")',
        )
    version = next((row for row in lake.versions(made) if row.published), None)
    if version is None:
        fail(f"nothing of {child} is published, so it was made of nothing")
    inputs = {str(item.dataset): item.version for item in version.inputs}
    found = inputs.get(wanted.dataset)
    if found is None or wanted.version not in (None, found):
        made_of = ", ".join(f"{name}@v{number}" for name, number in inputs.items()) or "no dataset"
        fail(f"{child} v{version.version} was not made of {parent}; it was made of {made_of}")


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    names = list(rows[0]) if rows else []
    for number, row in enumerate(rows, 1):
        if set(row) != set(names):
            raise WrongArgument(
                method="assert_rows",
                given=f"row {number} with {', '.join(row) or 'no column'}",
                call=f"name the same columns in every row: {', '.join(names)}",
            )
    return names


def _compare(address: str, expected: list[dict[str, Any]], found: list[dict[str, Any]]) -> None:
    __tracebackhide__ = True
    wanted, there = Counter(map(_key, expected)), Counter(map(_key, found))
    if wanted == there:
        return
    lines = [f"{address} was expected to show {counted(len(expected), 'row')}, it has {len(found)}"]
    lines += _row_lines("missing", expected, wanted - there)
    lines += _row_lines("not expected", found, there - wanted)
    fail("\n".join(lines))


def _row_lines(word: str, rows: list[dict[str, Any]], which: Counter[Any]) -> list[str]:
    left, chosen = Counter(which), []
    for row in rows:
        if left[_key(row)] > 0:
            left[_key(row)] -= 1
            chosen.append(f"  {word}: {row}")
    more = len(chosen) - _MOST_SHOWN
    return chosen[:_MOST_SHOWN] + ([f"  {word}: {more} more"] if more > 0 else [])


def _key(value: Any) -> Any:
    """Equal for equal values, and one that can be counted."""
    if isinstance(value, Mapping):
        return frozenset((name, _key(item)) for name, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_key, value))
    return "NaN" if isinstance(value, float) and value != value else value
