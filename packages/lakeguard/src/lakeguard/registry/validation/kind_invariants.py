"""Checks one definition of any kind on its own."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import SplitResult, parse_qsl, urlsplit

from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.policies import parse_policy, policy_text
from lakeguard.gate.rules.compile import compile_rule, compile_text
from lakeguard.gate.rules.parse import read_rule, rule_text
from lakeguard.gate.rules.quarantine_rules import check_quarantine
from lakeguard.registry.files.details import secret_problems
from lakeguard.registry.files.job_settings import job_errors
from lakeguard.registry.files.policies import reaction_problem
from lakeguard.registry.files.rule_catalog import name_problem, template_problem
from lakeguard.registry.files.rules import grammar_hint, rule_error
from lakeguard.registry.files.source_invariants import source_errors
from lakeguard.registry.files.table_locations import location_problem, own_place_problem
from lakeguard.registry.sql.sql_builds import check_transform
from lakeguard.registry.text.definition_positions import Locate
from lakeguard.registry.text.fields import LONGEST_TEXT
from lakeguard.registry.text.yaml_nodes import Path
from lakeguard.registry.validation.invariants import dataset_errors
from lakeguard.registry.validation.texts import text_errors
from lakeguard.settings import LONGEST_SCHEMA, SERVER_FILES, SERVER_OPTIONS
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.core.enums import TargetFormat
from lakeguard_sdk.errors import (
    BadSql,
    DefinitionError,
    DuplicateRule,
    MissingKey,
    PolicySyntax,
    RuleMeaning,
    UnknownType,
    WrongValue,
)
from lakeguard_sdk.model.definitions import (
    CatalogueRule,
    ColumnDefinition,
    DatasetDefinition,
    Definition,
    JobDefinition,
    PolicyDefinition,
    ProfileDefinition,
    RuleDefinition,
    SourceDefinition,
    TargetDefinition,
)
from lakeguard_sdk.model.delivery import DATABASE_SECRETS, SCHEMA_DETAIL
from lakeguard_sdk.security.secret_values import address_holds_secret
from lakeguard_sdk.types.schema import RESERVED_PREFIX, is_reserved_column, normal_type


def definition_errors(definition: Definition, locate: Locate) -> Iterator[DefinitionError]:
    """Every error of a definition on its own, except in the rules of a dataset."""
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
    """Rules that are not canonical, do not compile against the columns, or share an id; and
    constant rules, unless the registered revision ``before`` already has them."""
    schema, place = dataset.table_schema, locate(dataset, ())
    known = {rule.expression for rule in before.rules} if before else set()
    seen: dict[str, RuleDefinition] = {}
    for rule in dataset.rules:
        if not 0 < len(rule.rule_id) <= LONGEST_TEXT:
            yield RuleMeaning(place, problem="a rule id must have 1 to 300 characters", hint="")
        if rule.rule_id in seen:
            first = seen[rule.rule_id].expression
            yield DuplicateRule(place, rule=rule.rule_id, first=first)
        seen.setdefault(rule.rule_id, rule)
        try:
            compile_rule(rule, schema)
            if rule.expression not in known:
                compile_text(rule.expression, schema)
                check_quarantine(rule.expression, dataset.declared)
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
            yield _wrong(target, locate, "partition_by", "duplicate or empty column")
    names = [mapping.source for mapping in target.sources]
    for index, name in enumerate(names):
        if name in names[:index]:
            at = ("sources", index, "source")
            place, problem = locate(target, at), f"duplicate source {name}"
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


# Schema profiles, reserved names and columns left out.


def schema_errors(dataset: DatasetDefinition, locate: Locate) -> Iterator[DefinitionError]:
    """Columns left out that are declared or duplicate, reserved names, and invalid
    ``widened_from`` types."""
    names = {column.name.casefold() for column in dataset.columns}
    seen: set[str] = set()
    for index, name in enumerate(dataset.leave_out):
        problem = _problem(name, names, seen)
        seen.add(name.casefold())
        if problem is not None:
            at = ("schema", "leave_out", index)
            place = locate(dataset, at)
            yield WrongValue(place, key="leave_out", problem=problem, hint="", at=list(at))
    for column in dataset.columns:
        if is_reserved_column(column.name):
            named = ("columns", column.name)
            problem = f"{column.name[:80]}: names with {RESERVED_PREFIX} are reserved"
            place = locate(dataset, named)
            yield WrongValue(place, key="columns", problem=problem, hint="", at=list(named))
        declared = _declaration_problem(column)
        if declared is not None:
            key, problem = declared
            where = ("columns", column.name, key)
            place = locate(dataset, where)
            yield WrongValue(place, key=key, problem=problem, hint="", at=list(where))
        if column.widened_from and not _is_type(column.widened_from):
            path = ("columns", column.name, "widened_from")
            before = column.widened_from[:80]
            yield UnknownType(locate(dataset, path), type=before, hint="", at=list(path))


def _declaration_problem(column: ColumnDefinition) -> tuple[str, str] | None:
    """The key and the problem of what a person declared on its lineage."""
    if column.clean and column.derived_from:
        return "clean", "a column is clean or derived from others, not both"
    if column.derived_from and not column.reason:
        return "derived_from", "give the reason: it replaces the lineage that a run finds"
    if column.reason and not column.derived_from:
        return "reason", "it is the reason of derived_from, which is missing"
    if len(set(column.derived_from)) != len(column.derived_from):
        return "derived_from", "a column is named twice"
    return None


def profile_errors(profile: ProfileDefinition, locate: Locate) -> Iterator[DefinitionError]:
    """Reactions that are invalid for their schema change."""
    for change, reaction in profile.reactions.items():
        problem = reaction_problem(change.value, reaction.value)
        if problem is not None:
            at = ("reactions", change.value.lower())
            place = locate(profile, at)
            yield WrongValue(place, key="reactions", problem=problem, hint="", at=list(at))


def _problem(name: str, declared: set[str], seen: set[str]) -> str | None:
    if not name.strip():
        return "write a column name"
    if name.casefold() in declared:
        return f"{name[:80]} is also declared"
    return f"duplicate column {name[:80]}" if name.casefold() in seen else None


def _is_type(text: str) -> bool:
    try:
        return normal_type(text) == text
    except ValueError:
        return False


# Database targets: address, credentials and schema.

_ADDRESS = "postgresql://HOST:PORT/DATABASE"


def database_errors(target: TargetDefinition, locate: Locate) -> Iterator[DefinitionError]:
    """Every error of a database target; secrets in texts are checked with all texts."""
    if target.format is not TargetFormat.POSTGRESQL:
        for key in ("url", "secrets"):
            if getattr(target, key):
                yield _wrong_database(
                    target, locate, (key,), f"not supported by {target.format}, only by databases"
                )
        return
    if not target.url:
        yield MissingKey(locate(target, ("url",)), key="url", at=["url"])
    elif not address_holds_secret(target.url):
        for problem in _address_problems(target.url):
            yield _wrong_database(target, locate, ("url",), problem)
    for name, problem in (*secret_problems(target.secrets), *_unknown_secrets(target)):
        yield _wrong_database(target, locate, ("secrets", name), problem)
    for problem in _schema_problems(target.details.get(SCHEMA_DETAIL)):
        yield _wrong_database(target, locate, ("details", SCHEMA_DETAIL), problem)


def _address_problems(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        yield f"write {_ADDRESS}"
        return
    if parts.scheme != "postgresql":
        yield f"write {_ADDRESS}"
    elif "@" in parts.netloc:
        yield "remove user and password from the url; write secrets: {user: env:NAME}"
    else:
        yield from _part_problems(parts)


def _part_problems(parts: SplitResult) -> Iterator[str]:
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    name = parts.path.removeprefix("/")
    if not name or parts.fragment or set("/@:") & set(name):
        yield f"write one database, {_ADDRESS}"
    if bool(parts.hostname) == ("host" in options):
        yield "write one host, or a socket folder, ?host=/PATH"
    for option in options:
        if option not in SERVER_OPTIONS:
            hint = did_you_mean(option, SERVER_OPTIONS) or f" ({', '.join(SERVER_OPTIONS)})"
            yield f"unknown URL option{hint}"
        elif option in ("host", *SERVER_FILES) and not options[option].startswith("/"):
            yield f"{option}: write an absolute path"


def _unknown_secrets(target: TargetDefinition) -> Iterator[tuple[str, str]]:
    for name in target.secrets:
        if name not in DATABASE_SECRETS:
            yield name, f"unknown secret; write {' or '.join(DATABASE_SECRETS)}"


def _schema_problems(name: str | None) -> Iterator[str]:
    if name is None:
        return
    if not 1 <= len(name.encode()) <= LONGEST_SCHEMA or not name.isprintable():
        yield f"a schema name must have 1 to {LONGEST_SCHEMA} bytes"
    elif name.startswith("pg_") or name in ("$user", "information_schema"):
        yield f"{name!r} is reserved by PostgreSQL"


def _wrong_database(
    target: TargetDefinition, locate: Locate, at: Path, problem: str
) -> DefinitionError:
    key = str(at[-1])[:80]
    return WrongValue(locate(target, at), key=key, problem=problem, hint="", at=list(at))
