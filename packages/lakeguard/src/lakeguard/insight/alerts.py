"""Policies that were broken and only alert: what is published went past them."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, func, select

from lakeguard.state.tables import data_versions, dataset_pointers, decisions
from lakeguard_sdk.decision import Ruling
from lakeguard_sdk.reading import Breach
from lakeguard_sdk.words import CheckKind, Enforcement, Outcome


def alerts_let_through(connection: Connection, org_id: str) -> dict[str, tuple[Breach, ...]]:
    """By dataset id, those that the decision on the published version warned of.

    Asked of the decision that the version was made by: what shows it again, or in fewer files,
    judges less.
    """
    moves, later = dataset_pointers.c, dataset_pointers.alias("later").c
    last = select(func.max(later.ordinal)).where(later.dataset_id == moves.dataset_id)
    version, decided = data_versions.c, decisions.c
    rows = connection.execute(
        select(moves.dataset_id, decided.ruling)
        .join(
            data_versions,
            (version.dataset_id == moves.dataset_id) & (version.version == moves.version),
        )
        .join(decisions, decided.decision_id == version.decision_id)
        .where(
            moves.org_id == org_id,
            moves.ordinal == last.scalar_subquery(),
            decided.ruling.contains('"kind":"policy"'),
            decided.ruling.contains('"outcome":"WARN"'),
        )
    )
    return {row.dataset_id: tuple(_broken(Ruling.from_json(row.ruling))) for row in rows}


def _broken(ruling: Ruling) -> Iterator[Breach]:
    for check in ruling.checks:
        if check.kind is CheckKind.POLICY and check.outcome is Outcome.WARN:
            waived = "" if check.waived_by is None else f"; waived by {check.waived_by}"
            yield Breach(
                policy=check.check_id,
                expression=check.expression,
                enforcement=Enforcement.ALERT,
                message=check.message + waived,
            )
