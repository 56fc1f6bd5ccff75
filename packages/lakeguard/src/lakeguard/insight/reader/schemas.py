"""Live schemas found by runs, and their difference from the definition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import case, select

from lakeguard.gate.schema.changes import (
    Approved,
    Difference,
    find_changes,
    reordered,
)
from lakeguard.gate.schema.profiles import BUILT_IN, DEFAULT, Answers, answers_of
from lakeguard.ledger.documents import get_document
from lakeguard.registry.store import current_profiles, current_source, dataset_by_id
from lakeguard.state.schema import (
    dataset_registry_revisions,
    documents,
    run_history,
    run_openings,
    run_schemas,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TEXT_FORMATS
from lakeguard_sdk.model.definitions import DatasetDefinition, FromSource
from lakeguard_sdk.model.load import batch_columns
from lakeguard_sdk.model.read_models import ClassedDifference, SchemaDiff, SchemaRow
from lakeguard_sdk.model.run import SchemaReaction, SchemaVerdict
from lakeguard_sdk.model.schema_changes import Reaction
from lakeguard_sdk.types.schema import TableSchema


def schema_rows(tx: Transaction, dataset_id: str, limit: int) -> Sequence[SchemaRow]:
    """Live schemas with their verdicts, latest first."""
    rows = tx.execute(
        select(run_schemas)
        .join(run_openings, run_openings.c.run_id == run_schemas.c.run_id)
        .where(run_schemas.c.org_id == tx.org_id, run_openings.c.dataset_id == dataset_id)
        .order_by(
            case((run_schemas.c.submitted_at > tx.now(), 1), else_=0),  # of a clock that was wrong
            run_schemas.c.submitted_at.desc(),
            run_schemas.c.run_id.desc(),
        )
        .limit(limit)
    )
    found = []
    for row in rows:
        verdict = SchemaVerdict.from_json(get_document(tx, row.verdict_hash))
        live = TableSchema.from_json(get_document(tx, row.live_hash))
        found.append(
            SchemaRow(
                run_id=row.run_id,
                captured_at=row.submitted_at,
                schema_hash=row.live_hash,
                live=live,
                accepted=verdict.accepted,
                differences=verdict.differences,
            )
        )
    return found


def undeclared_columns(tx: Transaction) -> dict[str, tuple[SchemaReaction, ...]]:
    """By dataset: columns that its last recorded schema has and its table lacks, unless somebody
    has declared them or left them out since. As many looks into an index as there are datasets."""
    datasets, found = dataset_registry_revisions.c, run_schemas.c
    ended, later = run_history.c, run_history.alias("later")
    last = (  # by the order in which runs ended: a clock may have been wrong
        select(later.c.ordinal)
        .join(run_schemas, found.run_id == later.c.run_id)
        .where(later.c.dataset_id == datasets.dataset_id)
        .order_by(later.c.ordinal.desc())
        .limit(1)
        .correlate(dataset_registry_revisions)
    )
    rows = tx.execute(
        select(ended.dataset_id, documents.c.body)
        .select_from(dataset_registry_revisions)
        .join(run_history, ended.ordinal == last.scalar_subquery())
        .join(run_schemas, found.run_id == ended.run_id)
        .join(
            documents,
            (documents.c.content_hash == found.verdict_hash) & (documents.c.org_id == found.org_id),
        )
        .where(
            datasets.org_id == tx.org_id,
            datasets.revision == 1,
            documents.c.body.contains(Reaction.LEFT_OUT.value),
        )
    )
    return {row.dataset_id: tuple(_still_undeclared(tx, row.dataset_id, row.body)) for row in rows}


def _still_undeclared(tx: Transaction, dataset_id: str, verdict: str) -> Iterator[SchemaReaction]:
    definition = dataset_by_id(tx, dataset_id).definition
    known = {name.casefold() for name in (*definition.declared.names, *definition.leave_out)}
    for item in SchemaVerdict.from_json(verdict).differences:
        if item.reaction is Reaction.LEFT_OUT and item.column.casefold() not in known:
            yield item


def schema_diff(tx: Transaction, definition: DatasetDefinition, seen: SchemaRow) -> SchemaDiff:
    """A live schema compared with a definition, with each profile's reaction."""
    found = live_differences(tx, definition, seen.live)
    profiles = {**BUILT_IN, definition.profile: _own(tx, definition.profile)}
    return SchemaDiff(
        dataset=definition.dataset,
        run_id=seen.run_id,
        captured_at=seen.captured_at,
        profile=definition.profile,
        live=seen.live,
        differences=tuple(
            ClassedDifference(
                column=item.column,
                change=item.change,
                found=item.found,
                declared=item.declared,
                other=item.other,
                reactions={name: answers[item.change] for name, answers in profiles.items()},
            )
            for item in found
        ),
    )


def live_differences(
    tx: Transaction, definition: DatasetDefinition, live: TableSchema
) -> list[Difference]:
    """The difference between a live schema and the current definition."""
    from lakeguard.registry.files.rules import is_required  # needs all rule types

    declared = TableSchema(columns=batch_columns(definition.load, definition.declared.columns))
    promised = {column.name for column in definition.columns if not column.nullable}
    required = {name for name in declared.names if is_required(name, definition.rules)}
    approved = Approved(
        schema=declared,
        required=frozenset(required | promised),
        promised=frozenset(promised),
        keys=definition.load.keys,
        partition_by=definition.load.partition_by,
    )
    text_source = _reads_text(tx, definition)
    found = find_changes(live, approved, text_source=text_source)
    moved = reordered(live, declared)
    return [*found, moved] if moved else found


def _reads_text(tx: Transaction, definition: DatasetDefinition) -> bool:
    build = definition.build
    if not isinstance(build, FromSource):
        return False
    source = current_source(tx, build.source)
    return source is not None and source.definition.format in TEXT_FORMATS


def _own(tx: Transaction, name: str) -> Answers:
    own = next((p for p in current_profiles(tx) if p.profile == name), None)
    return answers_of(own) if own else BUILT_IN.get(name, BUILT_IN[DEFAULT])
