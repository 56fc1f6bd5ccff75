"""Errors in sources and policies: code, place and message."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cases.definition_errors import Case, check
from tests.support.projects.definition_folders import POLICY, SOURCE, load

SOURCES = [
    Case("unknown key", SOURCE, "path:", "«paths»:", "LG-2002", "did you mean path?"),
    Case("unknown format", SOURCE, "csv", "«cvs»", "LG-2004", "did you mean csv?"),
    Case(
        "no path",
        SOURCE,
        "source: orders\nformat: csv\npath: data/*.csv",
        "«source»: orders\nformat: csv",
        "LG-2003",
        "'path or url'",
    ),
    Case("other storage", SOURCE, "data/*.csv", "«s3://bucket/x»", "LG-2004", "not available yet"),
    Case("unknown option", SOURCE, "", "options: {«seperator»: x}\n", "LG-2002", ""),
    Case(
        "near option",
        SOURCE,
        "",
        "options: {«delimeter»: x}\n",
        "LG-2002",
        "did you mean delimiter?",
    ),
    Case(
        "option of another format",
        SOURCE,
        "csv\npath: data/*.csv\n",
        "parquet\npath: x\noptions: {«delimiter»: x}\n",
        "LG-2002",
        "",
    ),
    Case(
        "two characters", SOURCE, "", 'options: {delimiter: «"||"»}\n', "LG-2004", "one character"
    ),
    Case(
        "unknown encoding", SOURCE, "", "options: {encoding: «latin1»}\n", "LG-2004", "ISO-8859-1"
    ),
    Case(
        "option is a list", SOURCE, "", "options: {delimiter: «[a]»}\n", "LG-2004", "single value"
    ),
    Case(
        "password option",
        SOURCE,
        "",
        "options: {«password»: hunter2}\n",
        "LG-2021",
        "password looks like",
    ),
    Case(
        "secret in an option",
        SOURCE,
        "",
        "options: {«null_value»: wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY1}\n",
        "LG-2021",
        "null_value looks like",
    ),
    Case(
        "password in a path",
        SOURCE,
        "data/*.csv",
        "«ftp://me:hunter2@host/x»",
        "LG-2021",
        "path looks",
    ),
    Case("name and place", SOURCE, "orders", "«order»", "LG-2004", "the file name implies"),
]
POLICIES = [
    Case("unknown key", POLICY, "applies_to", "«applies»", "LG-2002", "did you mean applies_to?"),
    Case("unknown layer", POLICY, "gold", "«platinum»", "LG-2004", "bronze, silver or gold"),
    Case(
        "another type",
        POLICY,
        "type: PII\nexpression: forbid",
        "type: SLA\nexpression: «forbid»",
        "LG-2017",
        "freshness",
    ),
    Case("domain", POLICY, "type:", "domain: «[a]»\ntype:", "LG-2004", "a single value"),
    Case("tag", POLICY, "type:", "tag: «No Word»\ntype:", "LG-2020", "is not a valid name"),
    Case("unknown type", POLICY, "PII", "«PI»", "LG-2004", "did you mean PII?"),
    Case("bad expression", POLICY, "forbid tag:pii", "«forbd» tag:pii", "LG-2017", ""),
    Case("unknown enforcement", POLICY, "", "enforcement: «WARN»\n", "LG-2004", "BLOCK or ALERT"),
    Case("name and place", POLICY, "no_pii", "«nopii»", "LG-2004", "the file name implies"),
]


@pytest.mark.parametrize("case", SOURCES, ids=str)
def test_a_mistake_in_a_source_is_told_where_it_stands(case: Case, tmp_path: Path) -> None:
    errors = check(case, "definitions/sources/orders.yaml", tmp_path)
    assert "hunter2" not in " ".join(str(error.to_data()) for error in errors)


@pytest.mark.parametrize("case", POLICIES, ids=str)
def test_a_mistake_in_a_policy_is_told_where_it_stands(case: Case, tmp_path: Path) -> None:
    check(case, "definitions/policies/no_pii.yaml", tmp_path)


def test_values_may_be_separated_by_tabs(tmp_path: Path) -> None:
    text = SOURCE + 'options: {delimiter: "\\t"}\n'
    (source,) = load(tmp_path, {"definitions/sources/orders.yaml": text}).sources
    assert source.options == {"delimiter": "\t"}
