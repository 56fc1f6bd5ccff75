"""Checks datasets that rules refer to: they exist and have comparable columns."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.grammar.rule import Reference, Rule
from lakeguard.gate.rules.parse import read_rule
from lakeguard.gate.typecheck.comparability import comparable
from lakeguard.registry.merged_registry import MergedRegistry
from lakeguard.registry.text.definition_positions import by_file
from lakeguard.registry.validation.references import missing_errors
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import (
    DefinitionError,
    RuleMeaning,
    UnknownColumn,
    UnknownReference,
)
from lakeguard_sdk.model.definitions import DatasetDefinition, Definitions
from lakeguard_sdk.types.schema import FLOATS, TIMES, is_nested

_MARK = "->"
_EQUAL = "dataset_equal"
_AT = ("rules",)


def rule_reference_errors(
    dataset: DatasetDefinition, merged: MergedRegistry
) -> Iterator[DefinitionError]:
    """Every reference of its rules to a missing dataset or to columns that cannot be compared.

    Errors that the registered revision already has are left to the run, which blocks, so they
    do not prevent unrelated changes.
    """
    found = list(_references(dataset))
    merged.open_datasets({to.dataset for _, to in found})
    for rule, to in found:
        errors = list(_errors_of(dataset, rule, to, merged))
        known = list(_known(dataset, rule, to, merged)) if errors else []
        yield from (error for error in errors if _essence(error) not in known)


def referred_to(dataset: DatasetDefinition) -> set[DatasetName]:
    """Every dataset that its active rules refer to, including itself."""
    active = tuple(rule for rule in dataset.rules if rule.active)
    found = _references(dataset.model_copy(update={"rules": active}))
    return {to.dataset for _, to in found}


def _known(
    dataset: DatasetDefinition, rule: Rule, to: Reference, merged: MergedRegistry
) -> Iterator[tuple[object, ...]]:
    """Errors of the same rule in the registered revision."""
    before = merged.superseded(dataset)
    if before is not None and (rule, to) in _references(before):
        registered = MergedRegistry(Definitions(), merged.current, ())
        yield from map(_essence, _errors_of(before, rule, to, registered))


def _essence(error: DefinitionError) -> tuple[object, ...]:
    """The error without its hint, which depends on other definitions."""
    return type(error), {**error.fields, "hint": ""}


def _errors_of(
    dataset: DatasetDefinition, rule: Rule, to: Reference, merged: MergedRegistry
) -> Iterator[DefinitionError]:
    name = to.dataset
    if name == dataset.dataset:
        yield from _to_itself(dataset, rule, to)
        yield from _column_errors(dataset, rule, to, dataset)
    elif not merged.has("dataset", name):
        referring = [name, name]
        yield from missing_errors(dataset, "dataset", name, _AT, merged, referring=referring)
    elif isinstance(other := merged.definition("dataset", name), DatasetDefinition):
        yield from _column_errors(dataset, rule, to, other)


def referring_errors(
    dataset: DatasetDefinition, merged: MergedRegistry
) -> Iterator[DefinitionError]:
    """Registered datasets whose rules refer to a name or columns that this one would lose."""
    before = merged.superseded(dataset)
    if before is None:
        return
    renamed = before.dataset != dataset.dataset
    now = {(column.name, column.type) for column in dataset.table_schema.columns}
    unchanged = all((column.name, column.type) in now for column in before.table_schema.columns)
    if unchanged and not renamed:
        return
    for other, rule, to in _referring(before, merged):
        if renamed:
            yield _stale_reference(other, before, dataset)
            continue
        known = [_essence(error) for error in _column_errors(other, rule, to, before)]
        for error in _column_errors(other, rule, to, dataset):
            if _essence(error) not in known:
                yield error


def _referring(
    dataset: DatasetDefinition, merged: MergedRegistry
) -> Iterator[tuple[DatasetDefinition, Rule, Reference]]:
    """References to a dataset from unchanged registered datasets."""
    for kind, name in merged.current.library.referring(dataset.dataset):
        other = merged.definition(kind, name)
        if not isinstance(other, DatasetDefinition) or other in merged.changed:
            continue
        if other.dataset in merged.renamed:
            continue
        for rule, to in _references(other):
            if to.dataset == dataset.dataset:
                yield other, rule, to


def _stale_reference(
    other: DatasetDefinition, before: DatasetDefinition, now: DatasetDefinition
) -> DefinitionError:
    name = before.dataset
    return UnknownReference(
        by_file(other, _AT),
        kind="dataset",
        name=name,
        hint=f"; it is renamed to {now.dataset}, update the rules of {other.dataset} too",
        at=list(_AT),
        referring=[name, name],
    )


def _references(dataset: DatasetDefinition) -> Iterator[tuple[Rule, Reference]]:
    for definition in dataset.rules:
        if _MARK not in definition.expression:
            continue
        try:
            rule = read_rule(definition.expression).rule
        except GrammarError:
            continue
        to = rule.parameter("to")
        if isinstance(to, Reference):
            yield rule, to


def _to_itself(dataset: DatasetDefinition, rule: Rule, to: Reference) -> Iterator[DefinitionError]:
    if rule.columns == to.columns:
        problem = f"{rule.rule_type} compares the columns of {to.dataset} with themselves"
        yield _meaning(dataset, to, problem, to.dataset)


def _column_errors(
    dataset: DatasetDefinition, rule: Rule, to: Reference, other: DatasetDefinition
) -> Iterator[DefinitionError]:
    here, there = dataset.table_schema, other.table_schema
    all_columns = not to.columns
    for name in there.names if all_columns else ():
        if name not in here.names:
            problem = f"{to.dataset} also has {name}; list the columns to compare"
            yield _meaning(dataset, to, problem, to.dataset)
    named = (here.names, here.names) if all_columns else (rule.columns, to.columns)
    for own, name in zip(*named, strict=False):
        kind, own_kind = there.type_of(name), here.type_of(own)
        if kind is None:
            yield UnknownColumn(
                by_file(dataset, _AT),
                dataset=to.dataset,
                column=name,
                hint=did_you_mean(name, there.names),
                at=list(_AT),
                referring=[to.dataset, name],
            )
        elif kind in (*FLOATS, "binary") and rule.rule_type != _EQUAL:
            problem = f"{name} of {to.dataset} is {kind}, which cannot be a key"
            yield _meaning(dataset, to, problem, name)
        elif own_kind is not None and not _alike(own_kind, kind):
            problem = f"{own} ({own_kind}) is never equal to {name} of {to.dataset} ({kind})"
            yield _meaning(dataset, to, problem, name)


def _alike(one: str, other: str) -> bool:
    same = one == other and not is_nested(one)
    return same or comparable(one, other) or {one, other} <= set(TIMES)


def _meaning(dataset: DatasetDefinition, to: Reference, problem: str, word: str) -> DefinitionError:
    return RuleMeaning(
        by_file(dataset, _AT),
        problem=problem,
        hint="",
        at=list(_AT),
        referring=[to.dataset, word],
    )
