"""The verdict on a live schema: every difference, and the schema the run continues with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lakeguard.gate.evaluation.case import CaseFacts
from lakeguard.gate.policies import governs
from lakeguard.gate.rules.quarantine_rules import quarantine_rules
from lakeguard.gate.schema.changes import (
    Approved,
    Difference,
    find_changes,
    reordered,
    revised_differences,
)
from lakeguard.gate.schema.profiles import guaranteed
from lakeguard.gate.schema_comparison import accepted_schema, answered, policy_modes
from lakeguard.ledger.documents import put_document
from lakeguard.ledger.openings import opened_revision
from lakeguard.ledger.versions import require_version
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.opening.pinned_rules import pin_drift, read_by, required_measures
from lakeguard.promotion.opening.statistics_redaction import columns_to_redact
from lakeguard.promotion.privacy.batch_lineage import table_lineage
from lakeguard.promotion.privacy.private_columns import private_in
from lakeguard.promotion.privacy.row_samples import masked_columns
from lakeguard.promotion.privacy.tag_propagation import possible_tags
from lakeguard.promotion.records.open_runs import OpenRun, PinnedRules
from lakeguard.registry.editing.drift import drifted, renamed_columns
from lakeguard.registry.kinds import gathered
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.store import current_policies, definition_at, read_state
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TEXT_FORMATS, LoadType
from lakeguard_sdk.errors import InvalidDefinitions
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.lineage import BatchLineage
from lakeguard_sdk.model.load import load_columns
from lakeguard_sdk.model.run import SchemaReaction, SchemaVerdict, SourceBuild
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from lakeguard_sdk.types.schema import TableSchema

_ADDED = (SchemaChange.ADD_NULLABLE, SchemaChange.ADD_REQUIRED)
_GROWS = (*_ADDED, SchemaChange.RENAME, SchemaChange.WIDEN)


def judge_schema(
    tx: Transaction,
    context: PlaneContext,
    run: OpenRun,
    facts: CaseFacts,
    live: TableSchema,
    batch: BatchLineage | None = None,
) -> tuple[SchemaVerdict, BatchLineage | None]:
    """Every difference with its reaction, and the lineage of the table; impossible changes are
    never accepted."""
    policies = tuple(policy for policy in run.pinned.policies if governs(policy, facts))
    found = [*_found(run, live), *_revised(tx, run)]
    own = _limited(answered(found, run.pinned.terms.answers), tx, run)
    modes = policy_modes(policies, run.dataset.name.layer)
    reactions = tuple(guaranteed(own, modes))
    accepted = _accepted(reactions)
    lineage = table_lineage(tx, run, batch, reactions)
    if not accepted:
        return SchemaVerdict(accepted=False, differences=reactions), lineage
    declared = accepted_schema(run.plan.declared, live, reactions)
    if declared == run.plan.declared and lineage is None:
        return SchemaVerdict(accepted=True, differences=reactions), None
    problem = "" if declared == run.plan.declared else _problem(tx, context, run, declared)
    if problem:
        refused = tuple(_refused(reactions, problem))
        return SchemaVerdict(accepted=False, differences=refused), lineage
    return _accepted_with(tx, run, reactions, declared, lineage), lineage


def _accepted_with(
    tx: Transaction,
    run: OpenRun,
    reactions: tuple[SchemaReaction, ...],
    declared: TableSchema,
    lineage: BatchLineage | None,
) -> SchemaVerdict:
    """The columns that the run goes on with, and what comes with them: tags, policies, measures."""
    definition = drifted(_opened(tx, run), declared, renamed_columns(reactions))
    pinned = pin_drift(tx, run.pinned, definition, run.plan.build, lineage)
    private, masked = _hidden_columns(tx, run, definition, pinned, lineage)
    return SchemaVerdict(
        accepted=True,
        differences=reactions,
        declared=declared,
        measures=required_measures(pinned, definition.table_schema),
        pinned=put_document(tx, pinned.to_data(), tx.now()),
        private=private,
        masked=masked,
        redacted_statistics=columns_to_redact(definition.table_schema, pinned, masked),
        quarantine_rules=quarantine_rules(pinned.rules, declared),
    )


def _hidden_columns(
    tx: Transaction,
    run: OpenRun,
    definition: DatasetDefinition,
    pinned: PinnedRules,
    lineage: BatchLineage | None,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns redacted in messages, and columns masked in samples."""
    read, transformed = read_by(run.plan.build), bool(run.plan.transform)
    possible = possible_tags(tx, definition, read, lineage=lineage, transformed=transformed)
    policies = current_policies(tx)
    private = private_in(definition, policies, pinned, possible)
    masked = masked_columns(definition, pinned, private, possible)
    return tuple(sorted({*private, *masked})), masked


def _opened(tx: Transaction, run: OpenRun) -> DatasetDefinition:
    """The definition that the run opened with."""
    revision = opened_revision(tx, run.plan.ticket.run_id)
    if revision is None:
        return run.dataset.definition
    return definition_at(tx, run.dataset.dataset_id, revision)


def _found(run: OpenRun, live: TableSchema) -> Iterator[Difference]:
    plan, build = run.plan, run.plan.build
    approved = Approved(
        schema=plan.batch_schema,
        required=frozenset({*plan.required, *run.pinned.terms.promised}),
        promised=frozenset(run.pinned.terms.promised),
        keys=plan.load.keys,
        partition_by=plan.partition_by,
    )
    text_source = isinstance(build, SourceBuild) and build.format in TEXT_FORMATS
    yield from find_changes(live, approved, text_source=text_source)
    moved = reordered(live, plan.batch_schema)
    if moved is not None:
        yield moved


def _revised(tx: Transaction, run: OpenRun) -> Iterable[Difference]:
    """Definition changes since the base other than names and types."""
    base, dataset_id = run.plan.base, run.dataset.dataset_id
    if base is None:
        return ()
    made_by = require_version(tx, dataset_id, base.version).run_id
    then = opened_revision(tx, made_by)
    now = opened_revision(tx, run.plan.ticket.run_id)
    if then == now or then is None or now is None:
        return ()
    before = definition_at(tx, dataset_id, then)
    after = definition_at(tx, dataset_id, now)
    rebuilt = run.plan.load.type is LoadType.FULL and run.plan.window is None
    return revised_differences(before, after, rebuilt=rebuilt)


def _limited(
    reactions: Iterable[SchemaReaction], tx: Transaction, run: OpenRun
) -> Iterator[SchemaReaction]:
    """Columns always ignored, and timestamp types that the table cannot take."""
    taken = {column.name.casefold() for column in load_columns(run.plan.load)}
    out = {name.casefold() for name in run.pinned.terms.leave_out}
    local = _takes_local_times(tx, run)
    for item in reactions:
        name = item.column.casefold()
        accepts, added = item.reaction is Reaction.ACCEPT, item.change in _ADDED
        if added and name in out:
            yield _with(item, Reaction.LEFT_OUT, "its definition says so")
        elif added and name in taken and accepts:
            yield _with(item, Reaction.LEFT_OUT, "the load writes a column of that name")
        elif accepts and _is_local(item) and not local:
            yield _with(item, Reaction.BLOCK, "Delta takes no timestamp_ntz later")
        else:
            yield item


def _takes_local_times(tx: Transaction, run: OpenRun) -> bool:
    """A table accepts timestamp_ntz only if it was created with such a column."""
    if run.plan.base is None:
        return True
    version = require_version(tx, run.dataset.dataset_id, run.plan.base.version)
    return version.table_schema.has_local_times


def _is_local(item: SchemaReaction) -> bool:
    grows = item.change in _GROWS or str(item.change).startswith("NESTED_")
    return grows and "timestamp_ntz" in (item.found or "")


def _problem(tx: Transaction, context: PlaneContext, run: OpenRun, declared: TableSchema) -> str:
    """Why the resulting definition would be invalid; empty if valid."""
    definition = drifted(run.dataset.definition, declared)
    try:
        make_plan(gathered([definition]), read_state(tx), context.lake)
    except InvalidDefinitions as error:
        return str(error.errors[0])
    return ""


def _refused(reactions: Iterable[SchemaReaction], why: str) -> Iterator[SchemaReaction]:
    for item in reactions:
        grows = item.change in _GROWS or str(item.change).startswith("NESTED_")
        refused = grows and item.reaction is Reaction.ACCEPT
        yield _with(item, Reaction.BLOCK, why) if refused else item


def _with(item: SchemaReaction, reaction: Reaction, why: str) -> SchemaReaction:
    return item.model_copy(update={"reaction": reaction, "why": why})


def _accepted(reactions: Iterable[SchemaReaction]) -> bool:
    return all(item.reaction is not Reaction.BLOCK for item in reactions)
