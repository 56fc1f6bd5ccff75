"""What must hold of a definition by itself, of whatever kind, whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.gate.aside import check_aside
from lakeguard.gate.grammar import read_rule, rule_text
from lakeguard.gate.grammar_error import GrammarError
from lakeguard.gate.policies import parse_policy, policy_text
from lakeguard.gate.rules import compile_rule, compile_text
from lakeguard.registry.catalogue import name_problem, template_problem
from lakeguard.registry.fields import LONGEST_TEXT
from lakeguard.registry.invariants import dataset_errors
from lakeguard.registry.job_invariants import job_errors
from lakeguard.registry.locating import Locate
from lakeguard.registry.rules import grammar_hint, rule_error
from lakeguard.registry.schema_invariants import profile_errors, schema_errors
from lakeguard.registry.source_invariants import source_errors
from lakeguard.registry.sql import check_transform
from lakeguard.registry.table_places import location_problem, own_place_problem
from lakeguard.registry.target_databases import database_errors
from lakeguard.registry.texts import text_errors
from lakeguard_sdk.definition import (
    CatalogueRule,
    DatasetDefinition,
    Definition,
    JobDefinition,
    PolicyDefinition,
    ProfileDefinition,
    RuleDefinition,
    SourceDefinition,
    TargetDefinition,
)
from lakeguard_sdk.errors import (
    BadSql,
    DefinitionError,
    DuplicateRule,
    PolicySyntax,
    RuleMeaning,
    WrongValue,
)


def definition_errors(definition: Definition, locate: Locate) -> Iterator[DefinitionError]:
    """Everything that is wrong with a definition by itself, the rules of a dataset apart."""
    match definition:
        case DatasetDefinition():
            yield from dataset_errors(definition, locate)
            yield from schema_errors(definition, locate)
            if problem := own_place_problem(definition.location):
                place = locate(definition, ("location",))
                yield WrongValue(place, key="location", problem=problem, hint="", at=["location"])
        case SourceDefinition():
            yield from source_errors(definition, locate)
        case TargetDefinition():
            yield from _target_errors(definition, locate)
        case PolicyDefinition():
            yield from _policy_errors(definition, locate)
        case ProfileDefinition():
            yield from profile_errors(definition, locate)
        case CatalogueRule():
            yield from _catalogue_errors(definition, locate)
        case JobDefinition():
            yield from job_errors(definition, locate)
    yield from text_errors(definition, locate)


def _catalogue_errors(rule: CatalogueRule, locate: Locate) -> Iterator[DefinitionError]:
    if taken := name_problem(rule.rule):
        place = locate(rule, ("rule",))
        yield WrongValue(place, key="rule", problem=taken, hint="", at=["rule"])
    if problem := template_problem(rule.expression):
        place = locate(rule, ("expression",))
        yield RuleMeaning(place, problem=problem, hint="", at=["expression"])


def rule_errors(
    dataset: DatasetDefinition, locate: Locate, before: DatasetDefinition | None = None
) -> Iterator[DefinitionError]:
    """Rules that are not canonical, have no meaning over the columns, or share an id; and those
    that say nothing, unless the registered revision ``before`` says them already."""
    schema, place = dataset.table_schema, locate(dataset, ())
    said = {rule.expression for rule in before.rules} if before else set()
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
            if rule.expression not in said:
                compile_text(rule.expression, schema)
                check_aside(rule.expression, dataset.declared)
            canonical = rule_text(read_rule(rule.expression).rule)
        except GrammarError as error:
            yield rule_error(place, dataset.dataset, error)
            continue
        if canonical != rule.expression:
            problem = f"rule {rule.rule_id!r} is not in canonical form: {canonical}"
            yield RuleMeaning(place, problem=problem, hint="")


def _target_errors(target: TargetDefinition, locate: Locate) -> Iterator[DefinitionError]:
    problem = location_problem(target.location)
    if problem:
        yield _wrong(target, locate, "location", problem)
    yield from database_errors(target, locate)
    for index, name in enumerate(target.partition_by):
        if not name.strip() or name in target.partition_by[:index]:
            yield _wrong(target, locate, "partition_by", "name each column once")
    names = [mapping.source for mapping in target.sources]
    for index, name in enumerate(names):
        if name in names[:index]:
            at = ("sources", index, "source")
            place, problem = locate(target, at), f"{name} is mapped twice"
            yield WrongValue(place, key="sources", problem=problem, hint="", at=list(at))
    for found in check_transform(target.transform) if target.transform else ():
        place = locate(target, ("transform",))
        problem = f"transform: {found.problem}"
        yield BadSql(place, problem=problem, hint=found.hint, at=["transform"])


def _policy_errors(policy: PolicyDefinition, locate: Locate) -> Iterator[DefinitionError]:
    place = locate(policy, ("expression",))
    try:
        canonical = policy_text(parse_policy(policy.type, policy.expression))
    except GrammarError as error:
        hint = grammar_hint(error)
        yield PolicySyntax(place, problem=error.message, hint=hint, at=["expression"])
        return
    if canonical != policy.expression:
        problem = f"not in canonical form: {canonical}"
        yield PolicySyntax(place, problem=problem, hint="", at=["expression"])


def _wrong(definition: Definition, locate: Locate, key: str, problem: str) -> DefinitionError:
    place = locate(definition, (key,))
    return WrongValue(place, key=key, problem=problem, hint="", at=[key])
