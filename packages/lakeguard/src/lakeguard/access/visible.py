"""Filters answers: rows of readable datasets only, and no personal values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.model.notifications import AlertRow
from lakeguard_sdk.model.plan import Plan, Revise
from lakeguard_sdk.model.profile import ColumnProfile, Profile
from lakeguard_sdk.model.quarantine import QuarantineListing
from lakeguard_sdk.model.row_sample import MASKED, RowSample

Sees = Callable[[str | None], bool]
"""Whether the dataset may be read; None is the organisation as a whole."""
_SUBJECT = "dataset/"


def _by(name_of: Callable[[Any], str | None]) -> Callable[[Any, Sees], Any]:
    def chosen(rows: Sequence[Any], sees: Sees) -> Sequence[Any]:
        return tuple(row for row in rows if sees(name_of(row)))

    return chosen


def _invalidations(rows: Sequence[Any], sees: Sees) -> Sequence[Any]:
    return tuple(_invalidation(row, sees) for row in rows if sees(row.dataset))


def _invalidation(row: Any, sees: Sees) -> Any:
    followers = tuple(item for item in row.followers if sees(item.dataset))
    return row.model_copy(update={"followers": followers})


def _definitions(found: Definitions, sees: Sees) -> Definitions:
    """Sources, targets and jobs without a dataset belong to the organisation."""
    whole = sees(None)
    return found.model_copy(
        update={
            "datasets": tuple(item for item in found.datasets if sees(item.dataset)),
            "sources": found.sources if whole else (),
            "targets": found.targets if whole else (),
            "jobs": tuple(item for item in found.jobs if sees(getattr(item, "dataset", None))),
        }
    )


def _plan(plan: Plan, sees: Sees) -> Plan:
    """Earlier definitions of sources, targets and jobs belong to the organisation."""
    if sees(None):
        return plan
    steps = tuple(
        step.model_copy(update={"changes": ()})
        if isinstance(step, Revise) and step.definition.kind in ("source", "target", "job")
        else step
        for step in plan.steps
    )
    return plan.model_copy(update={"steps": steps})


def _notified(row: Any) -> str | None:
    """The dataset that a notification is about."""
    if isinstance(row, AlertRow):
        return row.alert.dataset
    subject = str(row.event.subject)
    return subject.removeprefix(_SUBJECT) if subject.startswith(_SUBJECT) else None


def _reaped(row: Any) -> str | None:
    return str(row.name) if "." in str(row.name) else None


def _ids(found: dict[str, str], sees: Sees) -> dict[str, str]:
    return {name: key for name, key in found.items() if sees(name)}


_OF_DATASET = _by(lambda row: row.dataset)

SHOWN: dict[str, Callable[[Any, Sees], Any]] = {
    "reader.datasets": _by(lambda row: row.dataset_name),
    "reader.status": _by(lambda row: row.dataset.dataset_name),
    "reader.changed": _by(lambda name: name),
    "reader.search": _OF_DATASET,
    "reader.executions": _by(lambda _: None),
    "reader.runs": _OF_DATASET,
    "reader.open_runs": _OF_DATASET,
    "reader.quarantine": _OF_DATASET,
    "reader.waivers": _OF_DATASET,
    "reader.invalidations": _invalidations,
    "reader.invalidation": _invalidation,
    "operations.invalidate": _invalidation,
    "operations.withdraw_invalidation": _invalidation,
    "operations.reap": _by(_reaped),
    "registry.definitions": _definitions,
    "registry.dataset_ids": _ids,
    "notifications.rows": _by(_notified),
    "notifications.sweep": _OF_DATASET,
    "registry.plan": _plan,
    "jobs.jobs": _OF_DATASET,
    "jobs.tasks": _OF_DATASET,
}
"""Filters of answers that may be about several datasets."""


# Personal values.

Answer = tuple[RowSample, ...] | tuple[Profile, ...] | QuarantineListing


def personal_in(answer: Any, hidden: Collection[str]) -> bool:
    """Whether the answer contains personal columns."""
    names = {name.casefold() for name in hidden}
    return any(column.casefold() in names for column in columns_in(answer))


def without_personal(answer: Any, hidden: Collection[str]) -> Any:
    """The answer with the values of these columns masked, even if they were stored before the
    column was personal."""
    names = frozenset(name.casefold() for name in hidden)
    if isinstance(answer, QuarantineListing):
        return _masked_rows(answer, names)
    return tuple(
        _masked_profile(item, names) if isinstance(item, Profile) else _masked_rows(item, names)
        for item in answer
    )


def columns_in(answer: Any) -> list[str]:
    if isinstance(answer, QuarantineListing):
        return list(answer.columns)
    found: list[str] = []
    for item in answer:
        is_profile = isinstance(item, Profile)
        found += [each.column for each in item.columns] if is_profile else list(item.columns)
    return found


def _masked_rows(item: Any, names: frozenset[str]) -> Any:
    hide = [column.casefold() in names for column in item.columns]
    rows = tuple(
        tuple(
            MASKED if hidden and value is not None else value
            for hidden, value in zip(hide, row, strict=True)
        )
        for row in item.rows
    )
    hidden_columns = {name for name, hidden in zip(item.columns, hide, strict=True) if hidden}
    masked = tuple(sorted({*item.masked, *hidden_columns}))
    return item.model_copy(update={"rows": rows, "masked": masked})


def _masked_profile(profile: Profile, names: frozenset[str]) -> Profile:
    columns = tuple(
        ColumnProfile(
            column=each.column,
            type=each.type,
            nulls=each.nulls,
            distinct=each.distinct,
            masked=True,
        )
        if each.column.casefold() in names
        else each
        for each in profile.columns
    )
    return profile.model_copy(update={"columns": columns})
