"""Lines of a service's log."""

from __future__ import annotations

import json
import logging
from dataclasses import replace

import pytest

from lakeguard.access.principal import Principal
from lakeguard.http.log_lines import lines_of_request, logged_as_json
from lakeguard_sdk.client import Client
from tests.support.fakes.asked_app import AskedApp

_log = logging.getLogger("lakeguard.tested")


def lines(captured: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    return [json.loads(line) for line in captured.readouterr().err.splitlines()]


def test_a_line_has_the_ids_of_its_request_and_no_secret(
    capsys: pytest.CaptureFixture[str],
) -> None:
    secret = "AKIA" + "Q7" * 8
    with logged_as_json("lakeguard.tested"):
        with lines_of_request(lambda: {"request_id": "r-1", "run_id": "run_17"}):
            _log.warning("reads with %s", secret)
            try:
                raise ValueError(f"refused {secret}")
            except ValueError:
                _log.exception("failed")
        _log.warning("later")
    first, second, third = lines(capsys)
    assert (first["level"], first["logger"]) == ("warning", "lakeguard.tested")
    assert (first["request_id"], first["run_id"]) == ("r-1", "run_17")
    assert "ValueError" in second["exception"]
    assert secret not in json.dumps([first, second])
    assert "request_id" not in third


def test_what_a_request_logs_has_its_id(app: AskedApp, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(_: Principal) -> Client:
        _log.warning("in the thread of the call")
        raise RuntimeError("broken")

    asked = AskedApp(replace(app.service, client_for=broken))
    with logged_as_json():
        assert asked.get("/runs/run_17", X_Request_Id="r-2").status_code == 500
    found = lines(capsys)
    assert [line["request_id"] for line in found] == ["r-2"] * 3
    assert [line["run_id"] for line in found] == ["run_17"] * 3
    assert "broken" in found[1]["exception"]
