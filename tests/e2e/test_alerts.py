"""A run that is blocked reaches whoever should hear of it, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fakes.webhook_receiver import SECRET, receiver
from tests.support.projects.alert_channels import (
    SECRET_VARIABLE,
    file_channel,
    lines_of,
    webhook,
)
from tests.support.projects.terminal import Terminal

pytestmark = pytest.mark.spark

BLOCKED = 3


def test_a_blocked_run_is_one_post(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    terminal = Terminal(tmp_path)
    assert terminal.type("lakeguard init shop --example").code == 0
    terminal.type("cd shop")
    shop = tmp_path / "shop"
    with receiver() as hook:
        text = (shop / "lakeguard.toml").read_text()
        channels = (webhook(hook.url, kinds=["blocked"]), file_channel())
        (shop / "lakeguard.toml").write_text("".join((text, *channels)))
        assert terminal.type("lakeguard apply").code == 0
        assert terminal.type("lakeguard run --all").code == 0
        assert hook.bodies == [], "what is promoted is no news"
        terminal.type("cp incoming/orders-2026-01-07.csv data/")
        assert terminal.type("lakeguard run bronze.orders").code == 0
        assert terminal.type("lakeguard run silver.orders").code == BLOCKED
        for line in ("status", "why silver.orders", "alerts list", "alerts send", "sync"):
            assert terminal.type(f"lakeguard {line}").code in (0, BLOCKED)
        (body,) = hook.bodies
        run = terminal.type("lakeguard why silver.orders --json").data["run"]
        assert (body["dataset"], body["kind"]) == ("silver.orders", "blocked")
        assert body["run_id"] in str(run)
        output = [line for line in lines_of(shop / "alerts.jsonl") if line["kind"] == "blocked"]
        assert [line["run_id"] for line in output] == [body["run_id"]]
        for email in ("lea@", "@example.com"):
            assert email not in str(hook.bodies)
        proof = terminal.type("lakeguard verify")
        assert proof.code == 0, proof.out
