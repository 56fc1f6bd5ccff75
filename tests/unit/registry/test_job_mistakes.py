"""Errors in job settings are found at validation, before a dispatcher or worker fails on them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeguard.registry.files.job_settings import KEYS, read_controls
from lakeguard.registry.files.job_values import time_zone
from lakeguard.registry.load_folder import load_folder
from lakeguard_sdk.model.definitions import JobDefinition
from tests.support.cases.definition_errors import Case, check
from tests.support.projects.definition_folders import (
    SHOP,
    mistakes,
    places_and_codes,
    write_folder,
)

FILE = "definitions/jobs/nightly.yaml"
PYTHON = "job: nightly\ntype: python\nconfig:\n  call: reports.daily:send\n"
HTTP = """\
job: nightly
type: http
details:
  signing_secret: env:FLOW_SECRET
config:
  url: https://flows.example/start
"""
BUILD = "job: nightly\ndataset: bronze.orders\nconfig:\n  schedule: daily\n"
NAMED = "job: nightly\nowner: ops\n"


def setting(text: str, message: str, code: str = "LG-2004") -> Case:
    """One more setting of a job in Python."""
    return Case(text.strip(), PYTHON, "", f"  {text}\n", code, message)


CASES = [
    setting("schedule: «0 2 * *»", "five fields of cron"),
    setting("schedule: «0 0 31 2 *»", "never comes"),
    setting("schedule: daily\n  time_zone: «Europe/Berln»", "did you mean Europe/Berlin?"),
    setting("schedule: daily\n  time_zone: «localtime»", "depends on the machine"),
    setting("frequency#Type: manual\n  time_zone: «UTC»", "needs a schedule"),
    setting("schedule: daily\n  catch_up: «latst»", "did you mean latest?"),
    setting("on_update: «orders»", "layer.name"),
    setting("on_update_any: «platinum.orders»", "layer.name"),
    setting("on_files: «landing/[ab»", "unclosed ["),
    setting("on_files: «landing/a**.csv»", "** must be a whole path segment"),
    setting("on_files: «'in/{a,b}.csv'»", "braces are not supported"),
    setting("on_files: «landing/_done»", "are ignored"),
    setting("on_event: «'{\"a\": [1], \"a\": [2]}'»", "duplicate key 'a'"),
    setting("on_event: «'{\"a\": [NaN]}'»", "NaN is not a number"),
    setting("after: «Load»", "lower snake case"),
    setting("overlap: «wait»", "queue or skip"),
    setting("concurrency: «0»", "from 1 to 1,000"),
    setting("priority: «high»", "from -1,000 to 1,000"),
    setting("labels: «GPU»", "lower snake case"),
    setting("labels: «gpu gpu»", "duplicate name"),
    setting("attempts: «0»", "from 1 to 100"),
    setting("timeout: «15»", "90s, 15m or 2h"),
    setting("timeout: «8d»", "at most 7d"),
    setting("outputs: «Report»", "lower snake case"),
    setting("frequency#Type: «rate(5 minutes)»", "no schedule"),
    setting("status#ActiveConfig: «maybe»", "true or false"),
    setting("stepfn#Name: «' '»", "write a name"),
    setting("«Frequency#type»: daily", "did you mean frequency#Type?", "LG-2002"),
    Case("no function", PYTHON, "reports.daily:send", "«reports.daily»", "LG-2004", "module:func"),
    Case("reserved", PYTHON, "reports.daily:send", "«reports.class:send»", "LG-2004", "of Python"),
    Case("no address", HTTP, "https://flows.example/start", "«flows.example»", "LG-2004",
         "https://HOST"),
    Case("written out", HTTP, "env:FLOW_SECRET", "«hush»", "LG-2021", "looks like a secret"),
    Case("no secret", HTTP, "details:\n  signing_secret", "«details»:\n  other_secret",
         "LG-2003", "'signing_secret' is required here; the request is signed with it"),
    Case("a dataset that is left out", NAMED, "owner: ops", "«dataset»:", "LG-2003", "'dataset'"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_mistake_is_told_where_it_stands(case: Case, tmp_path: Path) -> None:
    check(case, FILE, tmp_path)


def test_a_job_outside_without_details(tmp_path: Path) -> None:
    text = HTTP.replace("details:\n  signing_secret: env:FLOW_SECRET\n", "")
    (error,) = mistakes(tmp_path, {**SHOP, FILE: text})
    assert (error.code, str(error.place)) == ("LG-2003", f"{FILE}:1:1")
    assert "'signing_secret' is required here" in str(error)


ALL_AT_ONCE = [
    (
        f"{PYTHON}  on_files: /abs\n  status#ActiveConfig: perhaps\n  stepfn#Name: [a]\n",
        ["5:13 LG-2004", "6:24 LG-2004", "7:16 LG-2004"],
    ),
    (f"{PYTHON}  schedul: daily\n  timeout: '15'\n", ["5:3 LG-2002", "6:12 LG-2004"]),
    (f"{PYTHON}  schedule: [daily]\n  time_zone: UTC\n", ["5:13 LG-2004"]),
    (f"{PYTHON}  labels: [gpu]\n  time_zone: UTC\n", ["5:11 LG-2004", "6:14 LG-2004"]),
    (f"{PYTHON}  call_: x\nactive: perhaps\n", ["5:3 LG-2002", "6:9 LG-2004"]),
    ("job: nightly\ntype: python\nconfig:\n  call: [a]\n", ["4:9 LG-2004"]),
    ("job: nightly\ntype: python\nconfig:\n  labels: [a]\n", ["3:1 LG-2003", "4:11 LG-2004"]),
    ("job: nightly\ntype: python\nconfig: a\n", ["3:9 LG-2004"]),
    (HTTP.replace("env:FLOW_SECRET", "[a]"), ["4:19 LG-2004"]),
    (BUILD.replace("bronze.orders", "[a]") + "  attempts: 0\n", ["2:10 LG-2004", "5:13 LG-2004"]),
]


@pytest.mark.parametrize(("text", "expected"), ALL_AT_ONCE)
def test_one_mistake_hides_no_other_and_makes_none_up(
    text: str, expected: list[str], tmp_path: Path
) -> None:
    found = places_and_codes(mistakes(tmp_path, {**SHOP, FILE: text}))
    assert found == [f"{FILE}:{each}" for each in expected]


@pytest.mark.parametrize("near", ["local", "localtim", "posixrule", "factory", "Europe/Berln"])
def test_a_zone_that_is_proposed_is_taken(near: str) -> None:
    with pytest.raises(ValueError, match="write one such as") as refused:
        time_zone(near)
    _, meant, zone = str(refused.value).partition("did you mean ")
    assert not meant or time_zone(zone.removesuffix("?"))


@pytest.mark.parametrize(
    "text",
    [
        BUILD.replace("dataset: bronze.orders\n", ""),
        f"{NAMED}type: build\n",
        f"{NAMED}config: {{frequency#Type: daily}}\n",
        f"{NAMED}config: {{trigger#EventBridge: nightly}}\n",
        f"{NAMED}config: {{timeout: 5m}}\n",
    ],
)
def test_a_build_that_is_to_run_names_its_dataset(text: str, tmp_path: Path) -> None:
    (error,) = mistakes(tmp_path, {**SHOP, FILE: text})
    value = "'dataset' is required here; or write the type of the job"
    assert (error.code, str(error), error.place.file) == ("LG-2003", value, FILE)


@pytest.mark.parametrize(
    "text",
    [
        PYTHON,
        HTTP,
        BUILD,
        NAMED,
        f"{NAMED}type: build\nactive: false\n",
        f"{NAMED}type: build\nconfig: {{status#ActiveConfig: disabled}}\n",
        f"{NAMED}config: {{frequency#Type: daily, stepfn#Name: flow, trigger#EventBridge: rule}}\n",
        f"{NAMED}type: glue\nconfig: {{frequency#Type: daily, team#cost: 7}}\n",
    ],
)
def test_what_runs_here_or_elsewhere_and_what_is_only_known_by_name(
    text: str, tmp_path: Path
) -> None:
    (job,) = load_folder(write_folder(tmp_path, {**SHOP, FILE: text})).jobs
    assert job.job == "nightly"
    assert read_controls(job).mistakes == ()


@given(st.text(max_size=12), st.sampled_from(sorted(KEYS)))
def test_what_is_not_understood_is_never_without_a_mistake(text: str, key: str) -> None:
    """Whatever stands under a key: it is read, or it is told."""
    config = {"call": "a.b:c", "schedule": "daily", key: text}
    plain = JobDefinition(job="zz_job", type="python", config={**config, "schedule": "daily"})
    usual = {name: value for name, value in plain.config.items() if name != key}
    left_out = read_controls(plain.model_copy(update={"config": usual}))
    reading = read_controls(plain.model_copy(update={"config": config}))
    assert reading.mistakes or reading.controls != left_out.controls or _says_the_default(key, text)


def _says_the_default(key: str, text: str) -> bool:
    defaults = {"time_zone": "UTC", "catch_up": "latest", "overlap": "queue", "concurrency": "1",
                "priority": "0", "timeout": "1h"}  # fmt: skip
    reader = KEYS[key]
    return key in defaults and reader(text.strip()) == reader(defaults[key])
