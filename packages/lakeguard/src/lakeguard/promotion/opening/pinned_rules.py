"""The policy subject of a dataset, and the rules and policies that apply to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from lakeguard.gate.evaluation.case import CaseFacts
from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.policies import governs, policy_measures
from lakeguard.gate.rules.compile import measures_for
from lakeguard.gate.rules.parse import read_rule
from lakeguard.gate.rules.worst_values import tagged_columns
from lakeguard.gate.schema.profiles import SchemaTerms
from lakeguard.gate.subject import DeclaredOrigin, InheritedTag, ReadInput, Subject
from lakeguard.ledger.openings import lineage_of_run
from lakeguard.ledger.promotion_times import effective_promotion, sequenced_time
from lakeguard.ledger.versions import (
    Pointer,
    StoredVersion,
    inputs_of,
    require_version,
)
from lakeguard.promotion.privacy.tag_propagation import load_tags, travelled_tags
from lakeguard.promotion.records.open_runs import PinnedRules
from lakeguard.promotion.records.version_facts import definition_of_version
from lakeguard.registry.store import RegisteredDataset, current_policies
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import PolicyType
from lakeguard_sdk.expressions.measures import Measure
from lakeguard_sdk.model.definitions import (
    DatasetDefinition,
    FromFrame,
    FromPython,
    PolicyDefinition,
    RuleDefinition,
)
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.lineage import BatchLineage
from lakeguard_sdk.model.load import load_columns
from lakeguard_sdk.model.run import Build, PythonBuild, SqlBuild
from lakeguard_sdk.types.schema import TableSchema


def pin_rules(
    tx: Transaction,
    dataset: RegisteredDataset,
    *,
    published: Pointer | None,
    build: Build | None = None,
    opened_at: datetime | None = None,
    terms: SchemaTerms | None = None,
    shown: StoredVersion | None = None,
    lineage: BatchLineage | None = None,
) -> PinnedRules:
    """The dataset's current rules and policies, with the facts they need.

    Without a build nothing is read, as for a rollback to ``shown``, whose columns carry today's
    tags and those of its build. ``lineage`` is known beforehand for an adoption.
    """
    definition = dataset.definition
    policies = current_policies(tx)
    tags = {column.name: column.tags for column in definition.columns}
    reported = isinstance(definition.build, FromPython | FromFrame)
    pending = build is not None and reported and lineage is None
    if shown is not None:
        lineage = lineage_of_run(tx, shown.run_id)
    travelled = _travelled(tx, definition, policies, read_by(build), lineage, pending=pending)
    if shown is not None:
        tags, travelled = _with_those_of(tx, shown, policies, tags, travelled)
    outside = None if lineage is None else _outside(lineage)
    subject = _subject(tx, dataset, published, build).model_copy(
        update={"travelled": travelled, "opened_at": opened_at, "outside": outside}
    )
    facts = CaseFacts(
        dataset=dataset.name, declared=definition.table_schema, tags=tags, subject=subject
    )
    return PinnedRules(
        rules=tuple(sorted(definition.rules, key=lambda rule: rule.rule_id)),
        policies=tuple(policy for policy in policies if governs(policy, facts)),
        tags=tags,
        subject=subject,
        terms=terms or SchemaTerms(),
        waiting=tuple(policy for policy in policies if _waits(policy, facts)),
    )


def _subject(
    tx: Transaction,
    dataset: RegisteredDataset,
    published: Pointer | None,
    build: Build | None,
) -> Subject:
    """The policy subject from definition and ledger."""
    definition = dataset.definition
    rows = None
    if published is not None:
        rows = require_version(tx, dataset.dataset_id, published.version).table_rows
    return Subject(
        domain=definition.domain,
        owner=definition.owner,
        description=definition.description,
        parents=definition.parents,
        keys=definition.load.keys,
        by_load=tuple(column.name for column in load_columns(definition.load)),
        rules=tuple(sorted(_columns_of(rule) for rule in definition.rules if rule.active)),
        declared=tuple(_declared(definition)),
        inputs=None if build is None else _inputs(tx, build),
        promoted_at=effective_promotion(tx, dataset.dataset_id),
        rows_before=rows,
    )


def pin_drift(
    tx: Transaction,
    pinned: PinnedRules,
    drifted: DatasetDefinition,
    build: Build,
    lineage: BatchLineage | None = None,
) -> PinnedRules:
    """The pinned rules extended by accepted columns and by what the run reported of its inputs:
    own and inherited tags, and the policies on those tags."""
    if pinned.subject is None:
        return pinned
    policies = (*pinned.policies, *pinned.waiting)
    travelled = _travelled(tx, drifted, policies, read_by(build), lineage)
    brought: dict[str, object] = {"travelled": travelled}
    if lineage is not None:
        read = (*read_by(build), *lineage.inputs)
        brought |= {"inputs": _read_inputs(tx, read), "outside": _outside(lineage)}
    facts = CaseFacts(
        dataset=drifted.dataset,
        declared=drifted.table_schema,
        tags={column.name: column.tags for column in drifted.columns},
        subject=pinned.subject.model_copy(update=brought),
    )
    over = {policy.policy: policy for policy in policies if governs(policy, facts)}
    return pinned.model_copy(
        update={
            "policies": tuple(over.values()),
            "tags": facts.tags,
            "subject": facts.subject,
            "waiting": tuple(policy for policy in policies if policy.policy not in over),
        }
    )


def _outside(lineage: BatchLineage) -> tuple[str, ...] | None:
    """Other origins than versions; None if all origins are declared."""
    return lineage.outside or (None if lineage.by_definition else ())


def required_measures(pinned: PinnedRules, schema: TableSchema) -> tuple[Measure, ...]:
    """Measures of the rules, then those of the policies."""
    tagged = tagged_columns(pinned.tags, pinned.subject)
    by_rules = measures_for(pinned.rules, schema, tagged)
    return tuple(dict.fromkeys((*by_rules, *policy_measures(pinned.policies, schema))))


def _travelled(
    tx: Transaction,
    definition: DatasetDefinition,
    policies: Iterable[PolicyDefinition],
    read: Iterable[InputVersion],
    lineage: BatchLineage | None = None,
    *,
    pending: bool = False,
) -> tuple[InheritedTag, ...]:
    """Computed only if a policy refers to tags, but for what the load makes of tagged columns.
    While a lineage is pending, only declared sources are known."""
    if not any(map(_asks_for_tags, policies)):
        return load_tags(tx, definition)
    return travelled_tags(tx, definition, read, lineage, pending=pending)


def _with_those_of(
    tx: Transaction,
    shown: StoredVersion,
    policies: Iterable[PolicyDefinition],
    tags: dict[str, tuple[str, ...]],
    travelled: tuple[InheritedTag, ...],
) -> tuple[dict[str, tuple[str, ...]], tuple[InheritedTag, ...]]:
    """Own and inherited tags of the version's columns."""
    has = {name.casefold(): name for name in shown.table_schema.names}
    found = [*tags.items()]
    then = definition_of_version(tx, shown)
    if then is not None:
        found += [(column.name, column.tags) for column in then.columns]
        read = inputs_of(tx, shown.dataset_id, shown.version)
        travelled += _travelled(tx, then, policies, read, lineage_of_run(tx, shown.run_id))
    together: dict[str, set[str]] = {name: set() for name in has}
    for column, carried in found:
        if column.casefold() in has:
            together[column.casefold()] |= set(carried)
    return (
        {has[name]: tuple(sorted(carried)) for name, carried in together.items()},
        tuple(item for item in dict.fromkeys(travelled) if item.column.casefold() in has),
    )


def _waits(policy: PolicyDefinition, facts: CaseFacts) -> bool:
    """Whether the policy would apply if a column had its tag."""
    anyhow = policy.model_copy(update={"applies_to_tag": ""})
    return not governs(policy, facts) and governs(anyhow, facts)


def _asks_for_tags(policy: PolicyDefinition) -> bool:
    return policy.active and (policy.type is PolicyType.PII or bool(policy.applies_to_tag))


def _declared(definition: DatasetDefinition) -> Iterator[DeclaredOrigin]:
    for column in definition.columns:
        if column.clean or column.derived_from:
            yield DeclaredOrigin(
                column=column.name,
                derived_from=column.derived_from,
                reason=column.clean or column.reason,
            )


def _columns_of(rule: RuleDefinition) -> tuple[str, ...]:
    """Columns of a rule; empty if it does not parse."""
    try:
        return read_rule(rule.expression).rule.columns
    except GrammarError:
        return ()


def read_by(build: Build | None) -> tuple[InputVersion, ...]:
    """Input versions of a build."""
    pins = build.views if isinstance(build, SqlBuild) else {}
    if isinstance(build, PythonBuild):
        pins = build.inputs
    return tuple(pin.input for pin in pins.values())


def _inputs(tx: Transaction, build: Build) -> tuple[ReadInput, ...]:
    return _read_inputs(tx, read_by(build))


def _read_inputs(tx: Transaction, versions: Iterable[InputVersion]) -> tuple[ReadInput, ...]:
    read = []
    for item in dict.fromkeys(versions):
        version = require_version(tx, item.dataset_id, item.version)
        read.append(
            ReadInput(
                dataset=item.dataset,
                version=version.version,
                promoted_at=sequenced_time(tx, version.promoted_at, version.run_id),
            )
        )
    return tuple(sorted(read, key=lambda item: (item.dataset, item.version)))
