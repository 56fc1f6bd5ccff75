"""Suggestions as YAML that can be pasted, and as comments above the rules of a file."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from lakeguard.cli.rendering.suggest import chosen_of, fragment_lines, suggested_data
from lakeguard.gate.rules.parse import parse_rule, read_rule
from lakeguard.insight.suggestions import (
    Mutation,
    MutationKind,
    Suggestion,
    VersionResult,
)
from lakeguard.registry.load_folder import load_folder
from lakeguard.services.draft_rules import defined
from lakeguard.services.propose_definition import propose, with_reasons, write_new
from lakeguard.services.suggest_rules import Suggested
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Outcome, Severity, SourceFormat
from lakeguard_sdk.model.source_preview import PreviewColumn, SourcePreview

RULES = {
    "not_null(`on`)": "on",
    "range(`größe`, min=0, max=5)": "größe",
    "in_set(`a b`, values=['x', 'it''s: {y}', '# no'])": "a b",
    "regex(code, pattern='[A-Z]{2}-[0-9]{3,5}')": "code",
    "format(`1`, kind='email')": "1",
    "unique(a, `b c`)": "",
    "foreign_key(carrier -> silver.airlines(carrier))": "",
    "sql_row(trim(code) = code)": "",
    "row_count(min=1)": "",
}


def suggested(rule: str, column: str = "", **given: object) -> Suggestion:
    return Suggestion.model_validate(
        {
            "rule": rule,
            "column": column,
            "about": rule,
            "severity": Severity.WARN,
            "why": "3 rows\nsay so",
            "support": 3,
            "confidence": 0.9,
            "mutation": Mutation(kind=MutationKind.SET_ONE, column="x\x1b[2J"),
            "results": [VersionResult(version=2, outcome=Outcome.PASS, message="", failed_rows=0)],
            **given,
        }
    )


def all_of(*items: Suggestion) -> Suggested:
    return Suggested(
        dataset=DatasetName("silver.x"), version=2, rows=3, versions=(2, 1), suggestions=items
    )


@pytest.mark.parametrize("severity", list(Severity))
def test_every_rule_is_read_back_as_it_was_meant(severity: Severity) -> None:
    items = [suggested(rule, column, severity=severity) for rule, column in RULES.items()]
    text = "\n".join(fragment_lines(all_of(*items), items))
    assert "\x1b" not in text
    reported = yaml.safe_load(text)
    found = {}
    for column, given in reported["columns"].items():
        found |= {read_rule(_text(item), column=column).rule: item for item in given["rules"]}
    found |= {parse_rule(_text(item)): item for item in reported["rules"]}
    assert set(found) == {parse_rule(rule) for rule in RULES}
    warns = {isinstance(item, dict) and item["severity"] for item in found.values()}
    assert warns == {"WARN" if severity is Severity.WARN else False}


def _text(item: object) -> str:
    return str(item["rule"] if isinstance(item, dict) else item)


def test_versions_say_what_breaks_a_rule() -> None:
    results = (
        VersionResult(version=3, outcome=Outcome.PASS, message="newest at is 2 h old"),
        VersionResult(version=2, outcome=Outcome.WARN, message="12 of 90", failed_rows=1_200),
        VersionResult(version=1, outcome=Outcome.ERROR, message="its files are gone"),
        VersionResult(version=0, outcome=Outcome.NOT_EVALUATED, message="not compared"),
    )
    item = suggested("row_count(min=1)", results=results)
    text = "\n".join(fragment_lines(all_of(item), [item]))
    assert "  # 3 rows\\nsay so; confidence 0.90\n" in text
    given = "v3 0, v2 1,200, v1 its files are gone, v0 not compared"
    assert f"  # violations: {given}; fails on: x\\x1b[2J" in text


def test_weak_ones_are_counted_and_shown_when_asked() -> None:
    strong, weak = suggested("row_count(min=1)"), suggested("unique(a)", confidence=0.2)
    found = all_of(weak, strong)
    chosen = chosen_of(found, everything=False)
    assert chosen == [strong]
    assert "# 1 weaker rule with --all." in fragment_lines(found, chosen)
    data = suggested_data(found, chosen)
    assert (len(data["suggestions"]), data["weaker"]) == (1, 1)
    assert chosen_of(found, everything=True) == [strong, weak]


def test_nothing_to_suggest_is_no_rule() -> None:
    text = "\n".join(fragment_lines(all_of(), []))
    assert text == "# silver.x v2: 0 rules suggested from 3 rows, tested on v2, v1."
    assert yaml.safe_load(text) is None


def test_reasons_stand_above_their_rules_in_a_proposal(tmp_path: Path) -> None:
    long = ", ".join(f"'{'v' * 30}{n}'" for n in range(9))
    items = [
        suggested(f"in_set(code, values=[{long}])", "code", why="nine long ones"),
        suggested("not_null(code)", "code", why="always there"),
    ]
    sketch = SourcePreview(
        format=SourceFormat.CSV,
        columns=(PreviewColumn(name="code", type="string", found_as="code", nulls=0),),
        files=1,
        files_found=1,
        rows=500,
        bytes=1,
        whole=True,
    )
    name = DatasetName("bronze.x")
    proposed = propose(name, "in/*.csv", sketch, owner="o", domain="d", suggested=items)
    write_new(tmp_path, proposed, suggested=items)
    lines = (tmp_path / "definitions/bronze/x.yaml").read_text().splitlines()
    at = lines.index("# nine long ones")
    assert lines[at + 1].startswith("- {rule: ")
    assert "in_set" in lines[at + 1]
    assert lines[lines.index("# always there") + 1] == ("- {rule: not_null(code), severity: WARN}")
    assert load_folder(tmp_path) == proposed
    assert {rule.severity for rule in map(defined, items)} == {Severity.WARN}


def test_a_file_without_rules_stays_as_it_is() -> None:
    assert with_reasons("dataset: x\n", {"unique(a)": "b"}) == "dataset: x\n"
    assert with_reasons("rules:\n- unique(a)\n", {}) == "rules:\n- unique(a)\n"
