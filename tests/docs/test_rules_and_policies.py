"""rules.md and policies.md hold every rule type, policy type and example."""

from __future__ import annotations

import re

import pytest

from lakeguard.gate.policies import parse_policy, policy_text
from lakeguard.gate.policy_types.catalog import POLICY_KINDS
from lakeguard.gate.policy_types.policy_form import PolicyKind
from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard.gate.rule_types.rule_type import RuleType
from lakeguard_sdk.core.enums import PolicyType
from tests.unit.gate.cases import rule
from tools.docs.rules_and_policies import policies_reference, rules_reference


@pytest.mark.parametrize("rule_type", list(RULE_TYPES), ids=lambda found: str(found.name))
def test_every_rule_type_is_documented(rule_type: RuleType) -> None:
    section = rules_reference().partition(f"\n### {rule_type.name}\n")[2].partition("\n#")[0]
    assert rule_type.summary in section
    assert f"```\n{rule_type.example}\n```" in section
    assert f"- NULL: {rule_type.nulls}" in section
    for spec in rule_type.parameters:
        assert f"- `{spec.name}`: " in section
        assert spec.meaning in section


@pytest.mark.parametrize("kind", POLICY_KINDS.values(), ids=lambda kind: str(kind.type))
def test_every_form_of_policy_is_documented(kind: PolicyKind) -> None:
    section = policies_reference().partition(f"\n## {kind.type}\n")[2].partition("\n## ")[0]
    assert kind.summary in section
    for form in kind.forms:
        assert policy_text(parse_policy(kind.type, form.example)) == form.example
        assert f"```\n{form.example}\n```" in section
        for given in (form.form, form.meaning, form.judged, form.violated):
            assert given in section


def test_every_policy_type_is_documented() -> None:
    assert set(POLICY_KINDS) == set(PolicyType)


def test_rules_in_the_text_are_rules() -> None:
    """Every rule that the prose shows can be read."""
    listed = re.findall(r"^  - ([a-z_]+\(.*\))$", rules_reference(), re.MULTILINE)
    quoted = re.findall(r'rule: "(.*?)"', rules_reference())
    assert len(listed) >= 2
    assert len(quoted) >= 1
    for text in [*listed, *quoted]:
        assert rule(text).expression == text
