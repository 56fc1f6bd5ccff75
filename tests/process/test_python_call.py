"""Jobs in Python, each in a real process: what they are told, what they say, how they end."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from lakeguard.worker import python_job
from lakeguard.worker.attempt import Attempt
from lakeguard.worker.job_log import log_place
from lakeguard.worker.python_job import PASSED, run_python
from lakeguard_sdk.model.run import Failure
from lakeguard_sdk.scheduling.tasks import Output, TaskReport
from tests.support.projects.assignments import attempt_of, write_job


def run(folder: Path, attempt: Attempt) -> TaskReport:
    report = run_python(attempt, lake=str(folder), project=str(folder))
    assert report is not None
    return report


def failure(folder: Path, body: str, **fields: Any) -> Failure:
    write_job(folder, body)
    report = run(folder, attempt_of(**fields))
    assert not report.success
    assert report.outputs == {}
    assert report.error is not None
    return report.error


def log_of(folder: Path, attempt: Attempt) -> str:
    return Path(log_place(str(folder), attempt.ticket.run_id)).read_text()


def wait_for(place: Path) -> str:
    deadline = time.monotonic() + 20
    while not place.exists() or not place.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return place.read_text()


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def assert_gone(pid: int) -> None:
    deadline = time.monotonic() + 10
    while is_running(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_what_a_job_is_told_and_what_it_tells(tmp_path: Path) -> None:
    write_job(
        tmp_path,
        """
        import sys
        assert job.parameters == {"region": "eu", "date": "2026-01-31"}, job.parameters
        assert (job.job, job.attempt, str(job.date)) == ("nightly", 1, "2026-01-31")
        assert sys.stdin.read() == ""
        job.note("half way")
        print("to the other stream", file=sys.stderr)
        job.output("report", location="out/report.csv", rows=3, bytes=70, notes={"sum": 12})
        """,
    )
    attempt = attempt_of(parameters={"region": "eu", "date": "2026-01-31"})
    reported = Output(location="out/report.csv", rows=3, bytes=70, notes={"sum": 12})
    assert run(tmp_path, attempt) == TaskReport(success=True, outputs={"report": reported})
    assert log_of(tmp_path, attempt) == "half way\nto the other stream\n"


@pytest.mark.parametrize(
    "given",
    [
        "location='x/' + key",
        "location='s3://x/' + quote(key)",
        "notes={'a': [1, {'b': 'the ' + key}]}",
        "notes={key: 1}",
        "notes={'code': int(job.secret('number'))}",
        "notes={'short': job.secret('short')}",
    ],
)
def test_an_output_that_holds_a_secret_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    secrets = {"KEY": "correct horse battery", "NUMBER": "48151623", "SHORT": "eu"}
    for name, value in secrets.items():
        monkeypatch.setenv(f"JOB_{name}", value)
    error = failure(
        tmp_path,
        f"""
        from urllib.parse import quote
        key = job.secret("key")
        job.output("good", location="x/europe", notes={{"region": "europe"}})
        job.output("bad", {given})
        """,
        secrets={name.lower(): f"env:JOB_{name}" for name in secrets},
    )
    assert (error.code, error.retryable) == ("LG-1611", False)
    assert "the output bad holds a secret of the job" in error.message
    assert not any(value in error.message for value in ("horse", "48151623"))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("import os\nos._exit(0)", "exited with code 0 without a report"),
        ("import os\nos.kill(os.getpid(), 11)", "was killed by SIGSEGV"),
    ],
)
def test_a_process_that_ends_without_a_word_has_crashed(
    tmp_path: Path, body: str, message: str
) -> None:
    error = failure(tmp_path, body)
    assert (error.code, error.retryable) == ("LG-5654", True)
    assert message in error.message


def test_a_crash_tells_what_the_log_said_last(tmp_path: Path) -> None:
    error = failure(tmp_path, "import os\nfor n in range(9):\n    job.note(f'row {n}')\nos.abort()")
    assert error.message.startswith(
        "the process of nightly was killed by SIGABRT; its log ends with"
    )
    assert "row 8" in error.message
    assert "row 1" not in error.message


@pytest.mark.parametrize("deaf", [False, True])
def test_the_end_of_its_time_ends_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deaf: bool
) -> None:
    monkeypatch.setattr(python_job, "GRACE_SECONDS", 0.3)
    ignoring = "signal.signal(signal.SIGTERM, signal.SIG_IGN)" if deaf else "pass"
    error = failure(
        tmp_path,
        f"""
        import os, pathlib, signal, subprocess, time
        {ignoring}
        started = subprocess.Popen(["sleep", "600"])
        pathlib.Path("pids").write_text(f"{{os.getpid()}} {{started.pid}}")
        time.sleep(600)
        """,
        timeout_seconds=2,
    )
    assert (error.code, error.retryable) == ("LG-5655", True)
    assert error.message.startswith("nightly timed out after 2 s")
    for pid in (tmp_path / "pids").read_text().split():
        assert_gone(int(pid))


def test_what_a_job_leaves_behind_is_ended_with_it(tmp_path: Path) -> None:
    write_job(
        tmp_path,
        """
        import pathlib, subprocess
        started = subprocess.Popen(["sleep", "600"])
        pathlib.Path("pid").write_text(str(started.pid))
        """,
    )
    assert run(tmp_path, attempt_of()).success
    assert_gone(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("lost", [False, True])
def test_an_attempt_that_is_stopped_or_lost_ends_at_once(tmp_path: Path, lost: bool) -> None:
    write_job(
        tmp_path,
        """
        import os, pathlib, time
        pathlib.Path("pid").write_text(str(os.getpid()))
        time.sleep(600)
        """,
    )
    attempt = attempt_of()
    found: list[Any] = []
    thread = threading.Thread(
        target=lambda: found.append(run_python(attempt, lake=str(tmp_path), project=str(tmp_path)))
    )
    thread.start()
    pid = int(wait_for(tmp_path / "pid"))
    attempt.lose() if lost else attempt.stop()
    thread.join(10)
    assert_gone(pid)
    (report,) = found
    if lost:
        assert report is None
    else:
        assert (report.error.code, report.error.retryable) == ("LG-5658", True)


def test_a_job_ends_with_the_worker_that_started_it(tmp_path: Path) -> None:
    write_job(
        tmp_path,
        """
        import os, pathlib, subprocess, time
        started = subprocess.Popen(["sleep", "600"])
        pathlib.Path("pids").write_text(f"{os.getpid()} {started.pid}")
        time.sleep(600)
        """,
    )
    worker = os.fork()
    if worker == 0:  # pragma: no cover - the worker, which is killed
        run_python(attempt_of(), lake=str(tmp_path), project=str(tmp_path))
        os._exit(1)
    pids = [int(pid) for pid in wait_for(tmp_path / "pids").split()]
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
    for pid in pids:
        assert_gone(pid)


def test_nothing_of_the_worker_reaches_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = {
        "LAKEGUARD_DB_PASSWORD": "hush-hush-hush",
        "LAKEGUARD_ENV": "prod",
        "PGPASSWORD": "also-hush-hush",
        "PGHOST": "db.example",
        "DATABASE_URL": "postgresql://db.example/governance",
        "AWS_SECRET_ACCESS_KEY": "another-hush",
        "PYTHONPATH": "/elsewhere",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LC_TIME", "C.UTF-8")
    monkeypatch.setenv("API_KEY", "its own key")
    write_job(
        tmp_path,
        """
        import json, os, pathlib, sys
        raw = pathlib.Path("/proc/self/environ").read_bytes().decode().split(chr(0))
        command = pathlib.Path("/proc/self/cmdline").read_bytes().decode().split(chr(0))
        places = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
        held = {os.readlink(place).partition(":")[0] for place in places if os.path.lexists(place)}
        seen = {"environ": dict(os.environ), "raw": raw, "command": command, "held": sorted(held),
                "modules": sorted({name.partition(".")[0] for name in sys.modules}),
                "secret": job.secret("key"), "parameters": dict(job.parameters)}
        pathlib.Path("seen.json").write_text(json.dumps(seen))
        """,
    )
    attempt = attempt_of(secrets={"key": "env:API_KEY"}, parameters={"date": "2026-01-31"})
    with (tmp_path / "held by the worker").open("w"):
        assert run(tmp_path, attempt).success
    text = (tmp_path / "seen.json").read_text()
    seen = json.loads(text)
    assert [value for value in (*secrets.values(), "held by the worker") if value in text] == []
    ours = {name for name in seen["environ"] if not name.startswith(("LC_", "LAKEGUARD_JOB_"))}
    assert ours <= set(PASSED)
    assert seen["environ"]["LC_TIME"] == "C.UTF-8"
    assert {
        name: seen["environ"][f"LAKEGUARD_JOB_{name}"] for name in ("NAME", "DATE", "ATTEMPT")
    } == {
        "NAME": "nightly",
        "DATE": "2026-01-31",
        "ATTEMPT": "1",
    }
    assert not any("its own key" in word for word in (*seen["raw"], *seen["command"]))
    assert (seen["secret"], seen["parameters"]["key"]) == ("its own key", "env:API_KEY")
    assert {"lakeguard", "sqlalchemy", "pyspark", "openlaketx"} & set(seen["modules"]) == set()
    assert set(seen["held"]) <= {"/dev/null", "pipe", "socket", "/proc/self/fd"}


def test_a_secret_is_told_to_nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "its own key")
    (tmp_path / "token").write_text("-- begin --\nfirst-line\nsecond-line\n")
    write_job(
        tmp_path,
        """
        print("the key is", job.secret("key"))
        print(job.secret("token"))
        print("password=hunter2")
        raise ValueError("refused: " + job.secret("key"))
        """,
    )
    attempt = attempt_of(secrets={"key": "env:API_KEY", "token": f"file:{tmp_path}/token"})
    report, log = run(tmp_path, attempt), log_of(tmp_path, attempt)
    assert report.error is not None
    assert report.error.message == "nightly failed: ValueError: refused: ***"
    assert log.startswith("the key is ***\n***\n***\n***\npassword=********\n")
    assert not any(hidden in log for hidden in ("its own key", "first-line", "hunter2"))


def test_a_secret_that_is_not_there_fails_the_job(tmp_path: Path) -> None:
    error = failure(tmp_path, "pass", secrets={"key": "env:NOT_SET_ANYWHERE"})
    assert (error.code, error.retryable) == ("LG-5008", False)
    assert "env:NOT_SET_ANYWHERE" in error.message


def test_a_parameter_that_only_looks_like_a_secret_is_not_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sends an event writes what he likes: no variable, and no pipe, is read for him."""
    monkeypatch.setenv("OTHER_KEY", "of another job")
    os.mkfifo(tmp_path / "pipe")
    given = {"event.a": "env:OTHER_KEY", "event.b": f"file:{tmp_path}/pipe"}
    write_job(tmp_path, f"assert (dict(job.parameters), job._secrets) == ({given!r}, {{}})")
    assert run(tmp_path, attempt_of(parameters=given)).success
