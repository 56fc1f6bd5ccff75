"""Definitions against the registry: what must hold before anything is planned.

Definitions may come from a folder that was read a moment ago or from a stranger's hand; they
are held to the same invariants here, and nothing that a loader checked is taken on trust.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from lakeguard.gate.grammar import read_rule, rule_text
from lakeguard.gate.grammar_error import GrammarError
from lakeguard.gate.policies import parse_policy, policy_text
from lakeguard.gate.rules import compile_rule
from lakeguard.registry.current import RegistryState
from lakeguard.registry.fields import LONGEST_TEXT
from lakeguard.registry.findings import Findings
from lakeguard.registry.invariants import cycle_errors, dataset_errors
from lakeguard.registry.locating import Definition, by_file, file_of
from lakeguard.registry.nodes import Path
from lakeguard.registry.rules import grammar_hint, rule_error
from lakeguard.registry.sources import source_problems
from lakeguard_sdk.definition import (
    DatasetDefinition,
    Definitions,
    FromSource,
    PolicyDefinition,
    RuleDefinition,
    SourceDefinition,
)
from lakeguard_sdk.definition_errors import (
    DefinitionError,
    DuplicateDefinition,
    DuplicateRule,
    LayerChanged,
    PolicySyntax,
    RuleMeaning,
    UnknownReference,
    WrongValue,
)
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.spelling import did_you_mean


def check_definitions(
    definitions: Definitions, current: RegistryState, revised: frozenset[str]
) -> None:
    """InvalidDefinitions with every mistake; datasets not in ``revised`` equal what is
    registered, so that only their place in the whole is looked at."""
    findings = Findings()
    for error in _all_errors(definitions, current, revised):
        findings.add(error)
    findings.raise_if_any()


def _all_errors(
    definitions: Definitions, current: RegistryState, revised: frozenset[str]
) -> Iterator[DefinitionError]:
    yield from _duplicates(definitions)
    for source in definitions.sources:
        yield from _source_errors(source)
    for dataset in definitions.datasets:
        if dataset.dataset in revised:
            yield from dataset_errors(dataset, by_file)
            yield from rule_errors(dataset)
        yield from _layer_errors(dataset, current)
    yield from _reference_errors(definitions, current)
    registered = {name: item.definition for name, item in current.dataset_by_name.items()}
    yield from cycle_errors({item.dataset: item for item in definitions.datasets}, registered)
    for policy in definitions.policies:
        yield from _policy_errors(policy)


def _duplicates(definitions: Definitions) -> Iterator[DefinitionError]:
    every: list[Definition] = [
        *definitions.sources, *definitions.datasets, *definitions.policies,
    ]  # fmt: skip
    for file, count in Counter(file_of(item) for item in every).items():
        if count > 1:
            twin = next(item for item in every if file_of(item) == file)
            yield DuplicateDefinition(by_file(twin, ()), name=file, first=file)


def _source_errors(source: SourceDefinition) -> Iterator[DefinitionError]:
    for key, problem in source_problems(source):
        yield WrongValue(by_file(source, ()), key=key, problem=problem, hint="", at=[key])


def rule_errors(dataset: DatasetDefinition) -> Iterator[DefinitionError]:
    """Rules that are not canonical, have no meaning over the columns, or share an id."""
    schema, place = dataset.declared, by_file(dataset, ())
    seen: dict[str, RuleDefinition] = {}
    for rule in dataset.rules:
        if not 0 < len(rule.rule_id) <= LONGEST_TEXT:
            yield RuleMeaning(place, problem="a rule's id has 1 to 300 characters", hint="")
        if rule.rule_id in seen:
            first = seen[rule.rule_id].expression
            yield DuplicateRule(place, rule=rule.rule_id, first=first)
        seen.setdefault(rule.rule_id, rule)
        try:
            compile_rule(rule, schema)
            canonical = rule_text(read_rule(rule.expression).rule)
        except GrammarError as error:
            yield rule_error(place, dataset.dataset, error)
            continue
        if canonical != rule.expression:
            problem = f"rule {rule.rule_id!r} is not in canonical form: {canonical}"
            yield RuleMeaning(place, problem=problem, hint="")


def _layer_errors(dataset: DatasetDefinition, current: RegistryState) -> Iterator[DefinitionError]:
    known = current.dataset_by_name.get(dataset.dataset)
    if known is not None and known.layer is not dataset.dataset.layer:
        place = by_file(dataset, ())
        yield LayerChanged(place, name=dataset.dataset, layer=known.layer, at=["dataset"])


def _reference_errors(
    definitions: Definitions, current: RegistryState
) -> Iterator[DefinitionError]:
    datasets = {item.dataset for item in definitions.datasets} | set(current.dataset_by_name)
    sources = {item.source for item in definitions.sources} | set(current.source_by_name)
    for dataset in definitions.datasets:
        for index, parent in enumerate(dataset.parents):
            if parent not in datasets:
                at = ("parents", index)
                yield _unknown(dataset, "dataset", parent, at, datasets - {dataset.dataset})
        build = dataset.build
        if isinstance(build, FromSource) and build.source not in sources:
            yield _unknown(dataset, "source", build.source, ("source",), sources)


def _unknown(
    dataset: DatasetDefinition, kind: str, name: str, at: Path, known: set[str] | set[DatasetName]
) -> DefinitionError:
    hint = did_you_mean(name, known)
    return UnknownReference(by_file(dataset, at), kind=kind, name=name, hint=hint, at=at)


def _policy_errors(policy: PolicyDefinition) -> Iterator[DefinitionError]:
    place = by_file(policy, ())
    try:
        canonical = policy_text(parse_policy(policy.type, policy.expression))
    except GrammarError as error:
        hint = grammar_hint(error)
        yield PolicySyntax(place, problem=error.message, hint=hint, at=["expression"])
        return
    if canonical != policy.expression:
        problem = f"not in canonical form: {canonical}"
        yield PolicySyntax(place, problem=problem, hint="", at=["expression"])
