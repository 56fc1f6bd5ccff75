"""Which values a forbidden pattern is searched in."""

from __future__ import annotations

import pytest

from lakeguard.gate.evaluation.case import CaseFacts
from lakeguard.gate.policies import parse_policy
from lakeguard.gate.policy_types.policy_form import CannotEvaluate, PolicyInput, PolicyResult
from lakeguard_sdk.core.enums import PolicyType
from lakeguard_sdk.expressions.measures import measure_key
from lakeguard_sdk.model.quarantine import QuarantinedRows
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.unit.gate.cases import CLOCK, FLIGHTS, evidence_of, row, subject

FORM = parse_policy(PolicyType.PII, "forbid pattern '[0-9]{3}' in values")


def searched(
    *columns: tuple[str, str], by_load: tuple[str, ...] = (), before: int | None = None
) -> PolicyResult:
    """No row of the table has the pattern; ``before`` of those did that a run quarantined."""
    schema = TableSchema(columns=tuple(Column(name=name, type=kind) for name, kind in columns))
    keys = [measure_key(measure) for measure in FORM.measures(schema)]
    quarantined = QuarantinedRows(
        rows=1, files=(), before={} if before is None else dict.fromkeys(keys, before)
    )
    evidence = evidence_of((), [row()]).model_copy(
        update={"measures": dict.fromkeys(keys, 0), "quarantined": quarantined}
    )
    facts = CaseFacts(dataset=FLIGHTS, declared=schema, subject=subject(by_load=by_load))
    return FORM.evaluate(PolicyInput(facts=facts, evidence=evidence, clock=CLOCK))


@pytest.mark.parametrize("name", ["key_hash", "row_hash", "mail"])
def test_quarantined_values_of_a_column_are_searched_whatever_its_name_is(name: str) -> None:
    assert searched((name, "string"), before=1).holds is False
    with pytest.raises(CannotEvaluate, match="before rows were quarantined"):
        searched((name, "string"))


def test_a_column_that_the_load_writes_has_no_quarantined_values() -> None:
    assert searched(("row_hash", "string"), by_load=("row_hash",)).holds


def test_columns_that_are_not_searched_are_named() -> None:
    found = searched(
        ("n", "long"),
        ("photo", "binary"),
        ("tags", "array<string>"),
        ("raw", "struct<a:binary>"),
        ("sizes", "array<long>"),
    )
    assert found.message == (
        "no text in 0 columns contains the pattern; not searched: photo, raw, tags"
    )
