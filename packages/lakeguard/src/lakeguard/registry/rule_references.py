"""Datasets that rules refer to: each exists, and has columns that can be equal to those here."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.gate.comparability import comparable
from lakeguard.gate.grammar import read_rule
from lakeguard.gate.grammar_error import GrammarError
from lakeguard.gate.rule import Reference, Rule
from lakeguard.registry.locating import by_file
from lakeguard.registry.references import missing_errors
from lakeguard.registry.whole import Whole
from lakeguard_sdk.definition import DatasetDefinition
from lakeguard_sdk.definition_errors import DefinitionError, RuleMeaning, UnknownColumn
from lakeguard_sdk.schema import FLOATS, is_nested
from lakeguard_sdk.spelling import did_you_mean

_MARK = "->"
_EQUAL = "dataset_equal"
_TIMES = ("date", "timestamp", "timestamp_ntz")
_AT = ("rules",)


def rule_reference_errors(dataset: DatasetDefinition, whole: Whole) -> Iterator[DefinitionError]:
    """Every reference of its rules that leads nowhere, or to what cannot be compared."""
    found = list(_references(dataset))
    whole.open_datasets({to.dataset for _, to in found})
    for rule, to in found:
        name = to.dataset
        if name == dataset.dataset:
            yield from _to_itself(dataset, rule, to)
        elif not whole.has("dataset", name):
            referring = [name, name]
            yield from missing_errors(dataset, "dataset", name, _AT, whole, referring=referring)
            continue
        other = dataset if name == dataset.dataset else whole.definition("dataset", name)
        if isinstance(other, DatasetDefinition):
            yield from _column_errors(dataset, rule, to, other)


def referring_errors(dataset: DatasetDefinition, whole: Whole) -> Iterator[DefinitionError]:
    """Datasets that are registered, and refer to columns that this one would no longer have."""
    before = whole.current.definition("dataset", dataset.dataset)
    if not isinstance(before, DatasetDefinition):
        return
    now = {(column.name, column.type) for column in dataset.table_schema.columns}
    if all((column.name, column.type) in now for column in before.table_schema.columns):
        return
    for kind, name in whole.current.library.referring(dataset.dataset):
        other = whole.definition(kind, name)
        if not isinstance(other, DatasetDefinition) or other in whole.changed:
            continue
        for rule, to in _references(other):
            if to.dataset == dataset.dataset:
                yield from _column_errors(other, rule, to, dataset)


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
        problem = f"{rule.rule_type} holds the columns of {to.dataset} against themselves"
        yield _meaning(dataset, to, problem, to.dataset)


def _column_errors(
    dataset: DatasetDefinition, rule: Rule, to: Reference, other: DatasetDefinition
) -> Iterator[DefinitionError]:
    here, there = dataset.table_schema, other.table_schema
    whole = not to.columns
    for name in there.names if whole else ():
        if name not in here.names:
            problem = f"{to.dataset} has {name} besides: name the columns to compare"
            yield _meaning(dataset, to, problem, to.dataset)
    named = (here.names, here.names) if whole else (rule.columns, to.columns)
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
            problem = f"{name} of {to.dataset} is {kind}, which is no key"
            yield _meaning(dataset, to, problem, name)
        elif own_kind is not None and not _alike(own_kind, kind):
            problem = f"{own} ({own_kind}) is never equal to {name} of {to.dataset} ({kind})"
            yield _meaning(dataset, to, problem, name)


def _alike(one: str, other: str) -> bool:
    same = one == other and not is_nested(one)
    return same or comparable(one, other) or {one, other} <= set(_TIMES)


def _meaning(dataset: DatasetDefinition, to: Reference, problem: str, word: str) -> DefinitionError:
    return RuleMeaning(
        by_file(dataset, _AT),
        problem=problem,
        hint="",
        at=list(_AT),
        referring=[to.dataset, word],
    )
