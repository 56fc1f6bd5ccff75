"""The page for those who run jobs elsewhere: its calls work, and it names every refusal."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from lakeguard.http.inbox import FRESH_SECONDS, PATHS
from lakeguard.http.middleware import LARGEST_MESSAGE
from lakeguard.promotion.context import PlaneContext
from lakeguard_sdk.errors import BadToken, OutputExists, ReportConflict, ReportRefused
from lakeguard_sdk.model.run import Failure
from lakeguard_sdk.scheduling.tasks import Output, TaskAnswer, TaskReport
from tests.support.databases.databases import fresh_database
from tests.support.fakes.http_clients import SECRET, ask, door
from tests.support.fakes.task_tokens import token_of
from tests.support.projects.running_tasks import begin, make_context, submit

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "jobs-outside.md").read_text("utf-8")
PLACE = "http://127.0.0.1:8600"


@pytest.fixture
def context(tmp_path: Path) -> PlaneContext:
    return make_context(fresh_database("sqlite", tmp_path), tmp_path)


def calls() -> list[list[str]]:
    """The words of every ``curl`` on the page."""
    shown = re.findall(r"```sh\n(curl .*?)```", PAGE, re.DOTALL)
    return [shlex.split(text.replace("\\\n", " "))[1:] for text in shown]


def test_the_calls_on_the_page_work(context: PlaneContext) -> None:
    answers = []
    with door(context) as inbox:
        for words in calls():
            ticket = begin(context, submit(context), outputs=("model",))
            headers = {
                name.replace("-", "_"): value.strip().replace("$TOKEN", token_of(ticket))
                for name, _, value in (text.partition(":") for text in _after(words, "-H"))
            }
            (method,) = _after(words, "-X")
            (url,) = [word for word in words if word.startswith(PLACE)]
            body = "".join(_after(words, "-d")).encode()
            reply = ask(inbox, method, url.removeprefix(PLACE), body or None, **headers)
            assert reply.status == 200, words
            answers.append(reply.data)
    done, failed, kept = answers
    assert (done["state"], failed["state"]) == ("completed", "failed")
    assert kept == {"lease_seconds": 120}
    assert '{"lease_seconds":' in PAGE


def _after(words: list[str], option: str) -> list[str]:
    return [words[place + 1] for place, word in enumerate(words) if word == option]


def test_the_program_on_the_page_works(context: PlaneContext, tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    with door(context, secret=SECRET) as inbox:
        (tmp_path / "send.py").write_text(program.replace(PLACE, inbox.url), "utf-8")
        done = subprocess.run(
            [sys.executable, "send.py"],
            cwd=tmp_path,
            env={"INBOX_SECRET": SECRET},
            capture_output=True,
            text=True,
            check=True,
        )
    assert json.loads(done.stdout) == {"launches": []}


def test_everything_that_can_be_said_is_on_the_page() -> None:
    for noun in (TaskReport, Output, Failure):
        for name in noun.model_fields:
            assert f"`{name}`" in PAGE, name
    (shown,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert list(json.loads(shown)) == sorted(TaskAnswer.model_fields)
    for error in (BadToken, OutputExists, ReportConflict, ReportRefused):
        assert f"`{error.code}`" in PAGE
    for path in PATHS:
        assert path in PAGE
    assert f"{LARGEST_MESSAGE // 1024} KiB" in PAGE
    assert FRESH_SECONDS == 5 * 60
