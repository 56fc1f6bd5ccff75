"""Errors in targets, jobs, profiles and catalogue rules: code, place and message."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cases.definition_errors import Case, marked
from tests.support.cases.every_definition_kind import (
    EVERY_KIND,
    JOB,
    PROFILE,
    RULE,
    TARGET,
)
from tests.support.projects.definition_folders import mistakes

CASES = [
    Case("unknown key", TARGET, "zone:", "«zones»:", "LG-2002", "did you mean zone?"),
    Case("no location", TARGET, "location: zones/raw", "«location»:", "LG-2003", "'location'"),
    Case("other storage", TARGET, "zones/raw", "«ftp://b/x»", "LG-2004", "ftp: is not available"),
    Case("a bucket alone", TARGET, "zones/raw", "«s3://b»", "LG-2004", "s3://BUCKET/zones/raw"),
    Case("way out of a bucket", TARGET, "zones/raw", "«s3://b/../c»", "LG-2004", "without . or .."),
    Case("way out", TARGET, "zones/raw", "«zones/../..»", "LG-2004", "without . or .."),
    Case("hidden", TARGET, "zones/raw", "«file:///a/%2e%2e/b»", "LG-2004", "without . or .."),
    Case("wherever it is", TARGET, "zones/raw", "«file:zones/raw»", "LG-2004", "write file:///"),
    Case("of a host", TARGET, "zones/raw", "«file://zones/raw»", "LG-2004", "write file:///"),
    Case("loud scheme", TARGET, "zones/raw", "«FILE:///zones»", "LG-2004", "write file:///"),
    Case("two roots", TARGET, "zones/raw", "«//zones»", "LG-2004", "empty parts"),
    Case("layer folder", TARGET, "zones/raw", "«silver/raw»", "LG-2004", "is reserved"),
    Case("ledger folder", TARGET, "zones/raw", "«_lakeguard/x»", "LG-2004", "begin with . or _"),
    Case("long place", TARGET, "zones/raw", f"«{'z' * 161}»", "LG-2004", "at most 160"),
    Case("unknown format", TARGET, "delta", "«avro»", "LG-2004", "jsonl or postgresql"),
    Case("odd zone", TARGET, "zone: raw", "zone: «Raw Zone»", "LG-2020", "Raw Zone"),
    Case(
        "transform of a dataset", TARGET,
        "select *, upper(country) as country_code from batch",
        "«select * from bronze.orders»", "LG-2019", "may only read batch",
    ),
    Case(
        "transform of a path", TARGET,
        "select *, upper(country) as country_code from batch",
        "«select * from parquet.`/etc`»", "LG-2019", "not a dataset",
    ),
    Case(
        "transform that writes", TARGET,
        "select *, upper(country) as country_code from batch",
        "«drop table batch»", "LG-2019", "one SELECT",
    ),
    Case(
        "transform of nothing", TARGET,
        "select *, upper(country) as country_code from batch",
        "«select 1 as one»", "LG-2019", "must read batch",
    ),
    Case("partition twice", TARGET, "[country]", "[country, «country»]", "LG-2004", "duplicate"),
    Case(
        "source twice", TARGET, "description: Where", "  - {source: «crm»}\ndescription: Where",
        "LG-2004", "duplicate source",
    ),
    Case("unknown mapping key", TARGET, "relationship", "«relation»", "LG-2002", "relationship?"),
    Case("mapping is a list", TARGET, "description: Where", "  - «[crm]»\ndescription: Where",
         "LG-2004", "write a mapping"),
    Case("unknown key", JOB, "title:", "«titel»:", "LG-2002", "did you mean title?"),
    Case("odd dataset", JOB, "bronze.customers", "«customers»", "LG-2004", "layer.name"),
    Case("config is a list", JOB, "nightly", "«[nightly]»", "LG-2004", "single value"),
    Case("config without a value", JOB, "schedule: 0 2 * * *", "«schedule»:", "LG-2004", "a value"),
    Case("long external id", JOB, "J-1", f"«{'j' * 301}»", "LG-2004", "longer than 300"),
    Case("long key", JOB, "schedule", f"{'k' * 301}", "LG-2004", ""),
    Case("keys alike", JOB, "schedule: 0 2 * * *", "team#cost: 1\n  Team#Cost: «x»", "LG-2004",
         "easily confused"),
    Case("unknown setting", JOB, "schedule:", "«shedule»:", "LG-2002", "did you mean schedule?"),
    Case("setting of nobody", JOB, "schedule:", "«cores»:", "LG-2002", "contain #"),
    Case("odd schedule", JOB, "0 2 * * *", "«0 25 * * *»", "LG-2004", "'25' is no hour"),
    Case("schedule of six fields", JOB, "0 2 * * *", "«0 0 2 * * *»", "LG-2004", "five fields"),
    Case("odd switch", JOB, "true", "«maybe»", "LG-2004", "true or false"),
    Case("odd pattern", JOB, "schedule: 0 2 * * *", "on_event: «nightly»", "LG-2004", "JSON"),
    Case("odd word", JOB, "schedule: 0 2 * * *", "overlap: «skp»", "LG-2004", "mean skip?"),
    Case("call of no Python", JOB, "schedule: 0 2 * * *", "call: «a.b:c»", "LG-2004", "by python"),
    Case("no call", JOB, "type: build", "type: python", "LG-2003", "'call' is required"),
    Case("no url", JOB, "type: build\ndetails: {cores: 4}",
         "type: http\ndetails: {signing_secret: env:KEY}", "LG-2003", "'url' is required"),
    Case("http to far away", JOB, "schedule: 0 2 * * *", "url: «http://far.example/x»", "LG-2004",
         "https://"),
    Case("out of the lake", JOB, "schedule: 0 2 * * *", "on_files: «../*.csv»", "LG-2004", "below"),
    Case("after itself", JOB, "schedule: 0 2 * * *", "after: «load_customers»", "LG-2004",
         "for itself"),
    Case("zone of no time", JOB, "schedule: 0 2 * * *\n", "time_zone: «UTC»\n", "LG-2004",
         "needs a schedule"),
    Case("no flag", PROFILE, "true", "«yes»", "LG-2004", "true or false"),
    Case("unknown key", PROFILE, "allow_column_drop", "«allow_column_drops»", "LG-2002", "drop?"),
    Case("no expression", RULE, "expression: range({column}, min={low}, max={high})",
         "«expression»:", "LG-2003", "'expression'"),
    Case("unknown rule type", RULE, "range({column}, min={low}, max={high})",
         "«rang({column})»", "LG-2015", "did you mean range?"),
    Case("odd place to fill in", RULE, "range({column}, min={low}, max={high})",
         "«range({Column})»", "LG-2015", "{column}"),
    Case("open bracket", RULE, "range({column}, min={low}, max={high})",
         "«range({column}»", "LG-2015", "unbalanced"),
    Case("unknown severity", RULE, "WARN", "«LOW»", "LG-2004", "WARN or FAIL"),
    Case("name and place", RULE, "rule: in_bounds", "rule: «bounds»", "LG-2004", "the file name"),
]  # fmt: skip
FILES = {text: file for file, text in EVERY_KIND.items()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.good.split(':')[0]} {case}")
def test_a_mistake_is_told_where_it_stands(case: Case, tmp_path: Path) -> None:
    file = FILES[case.good]
    errors = mistakes(tmp_path, {**EVERY_KIND, file: marked(case).text})
    found = [error for error in errors if error.code == case.code]
    assert found, [str(error) for error in errors]
    assert case.says in str(found[0])
    if "«" in case.marked:
        assert (str(found[0].place), found[0].place.length) == marked(case).place(file)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("unique", "unique is a rule type; choose another name"),
        ("positive", "positive is a built-in rule; choose another name"),
    ],
)
def test_a_name_that_is_taken_is_refused(tmp_path: Path, name: str, says: str) -> None:
    file = f"definitions/rules/{name}.yaml"
    text = f"description: mine\nrule: {name}\nexpression: not_null({{column}})\n"
    (error,) = mistakes(tmp_path, {**EVERY_KIND, file: text})
    assert (error.code, str(error.place), error.place.length) == (
        "LG-2004",
        f"{file}:2:7",
        len(name),
    )
    assert says in str(error)
