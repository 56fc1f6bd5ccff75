"""Small tables, judged by the whole gate."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from lakeguard.gate.decide import CaseFacts, History, decide
from lakeguard.gate.rules.compile import compile_text, define_rule, measures_for
from lakeguard.gate.rules.parse import GrammarError, parse_rule
from lakeguard.gate.subject import Subject
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import (
    Enforcement,
    Layer,
    PolicyType,
    Severity,
)
from lakeguard_sdk.expressions.measures import measure_key
from lakeguard_sdk.model.decision import CheckResult, Ruling
from lakeguard_sdk.model.definitions import PolicyDefinition, RuleDefinition
from lakeguard_sdk.model.evidence import Evidence, StagedFile
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.unit.gate.oracle import Row, measured

CLOCK = datetime(2026, 1, 31, 12, tzinfo=UTC)
FLIGHTS = DatasetName("silver.flights")


def schema(**types: str) -> TableSchema:
    return TableSchema(columns=tuple(Column(name=n, type=t) for n, t in types.items()))


SCHEMA = schema(
    key="string",
    name="string",
    amount="decimal(9,2)",
    delay="double",
    ratio="float",
    count="integer",
    size="long",
    day="date",
    dep="timestamp",
    arr="timestamp",
    local="timestamp_ntz",
    active="boolean",
    raw="binary",
)


def row(**values: Any) -> Row:
    """A row of SCHEMA; what is not given is NULL."""
    return {name: values.get(name) for name in SCHEMA.names}


def rule(text: str, severity: Severity | None = None, **given: Any) -> RuleDefinition:
    return define_rule(
        parse_rule(text),
        rule_id=given.get("rule_id"),
        severity=severity,
        active=given.get("active", True),
    )


def policy(
    expression: str,
    type: PolicyType = PolicyType.PII,
    enforcement: Enforcement = Enforcement.BLOCK,
    layer: Layer | None = Layer.SILVER,
    active: bool = True,
    name: str = "guarantee",
    domain: str = "",
    tag: str = "",
) -> PolicyDefinition:
    return PolicyDefinition(
        policy=name,
        applies_to_layer=layer,
        applies_to_domain=domain,
        applies_to_tag=tag,
        type=type,
        expression=expression,
        enforcement=enforcement,
        active=active,
    )


def evidence_of(
    rules: tuple[RuleDefinition, ...],
    rows: list[Row],
    before: list[Row] | None = None,
    others: list[Row] | None = None,
) -> Evidence:
    """Whole evidence of ``rows`` appended to a table that holds the rows ``before``."""
    table = [*(before or []), *rows]
    measures = measures_for(rules, SCHEMA)
    return Evidence(
        run_id="run_1",
        dataset=FLIGHTS,
        table_schema=SCHEMA,
        rows=len(rows),
        table_rows=len(table),
        files=(StagedFile(path="a.parquet", size=1, rows=len(rows), modified_ms=1, stats="{}"),),
        removes=(),
        base_commit=None,
        measures={measure_key(m): measured(m, rows, table, others) for m in measures},
        inputs=(),
        build_hash="sha256:0",
        engine="oracle",
    )


def facts(**given: Any) -> CaseFacts:
    return CaseFacts(dataset=FLIGHTS, declared=SCHEMA, **given)


def subject(**given: Any) -> Subject:
    """A dataset that nothing is known to be wrong with."""
    usual = {"domain": "aviation", "owner": "flights-team", "description": "Flights."}
    lists: dict[str, Any] = {"parents": (), "keys": (), "rules": (), "inputs": ()}
    return Subject(**{**usual, **lists, "opened_at": CLOCK, **given})


def ruling(
    evidence: Evidence | None,
    rules: tuple[RuleDefinition, ...] = (),
    policies: tuple[PolicyDefinition, ...] = (),
    case: CaseFacts | None = None,
    clock: datetime = CLOCK,
    history: History | None = None,
) -> Ruling:
    return decide(case or facts(), evidence, rules, policies, history or History(), clock)


def judged(
    text: str,
    rows: list[Row],
    before: list[Row] | None = None,
    severity: Severity | None = None,
    others: list[Row] | None = None,
    history: History | None = None,
) -> CheckResult:
    """What one rule comes to over the rows, from its text to its check."""
    rules = (rule(text, severity),)
    evidence = evidence_of(rules, rows, before, others)
    return result_of(rules[0].rule_id, ruling(evidence, rules, history=history))


def result_of(check_id: str, ruled: Ruling) -> CheckResult:
    (found,) = [check for check in ruled.checks if check.check_id == check_id]
    return found


def refusal(text: str, *, column: str | None = None) -> GrammarError:
    """Why the text is no rule over SCHEMA; an AssertionError if it is one."""
    try:
        compile_text(text, SCHEMA, column=column)
    except GrammarError as error:
        return error
    raise AssertionError(f"{text!r} was accepted")
