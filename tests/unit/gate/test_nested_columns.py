"""Rules on nested columns: whether there is a value can be asked, and nothing else."""

from __future__ import annotations

import pytest

from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard.gate.rules.compile import compile_text
from lakeguard.gate.rules.parse import GrammarError
from lakeguard.gate.typecheck.resolution import ON_NESTED
from lakeguard_sdk.expressions.conditions import ColumnRef, IsNull
from lakeguard_sdk.expressions.measures import CountIf
from tests.unit.gate.cases import schema

KIND = "struct<a:long,b:array<string>>"
SCHEMA = schema(n="long", it=KIND, same=KIND)


def test_not_null_is_asked_of_the_column_itself() -> None:
    compiled = compile_text("not_null(it) where same is not null", SCHEMA)
    (failed, *_) = compiled.measures
    assert isinstance(failed, CountIf)
    assert failed.condition == IsNull(of=ColumnRef(name="it", type=KIND))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("unique(n, it)", "nested columns support only array_elements"),
        ("in_set(it, values=['a'])", "nested columns support only array_elements"),
        ("range(it, min=1)", "nested columns support only array_elements"),
        ("length(it, min=1)", "nested columns support only array_elements"),
        ("regex(it, pattern='a')", "nested columns support only array_elements"),
        ("compare(it = same)", "nested columns support only array_elements"),
        ("max(it, max=1)", "nested columns support only array_elements"),
        ("mean(it, max=1)", "nested columns support only array_elements"),
        ("not_null(n) where it = 'a'", "it: a nested column cannot be compared with a value"),
        ("not_null(n) where it in (1)", "it: a nested column cannot be compared with a value"),
        ("not_null(n) where it = same", "cannot be compared with same"),
    ],
)
def test_any_other_rule_is_refused_where_it_stands(text: str, expected: str) -> None:
    with pytest.raises(GrammarError, match=expected) as refused:
        compile_text(text, SCHEMA)
    assert text[refused.value.offset :].startswith(("it", "'a'", "1", "same"))


def test_the_refusal_names_every_rule_that_can_be_asked() -> None:
    able = [rule.name for rule in RULE_TYPES if rule.nested and rule.takes != "no column"]
    assert sorted(able) == [*ON_NESTED]
