"""``[[alerts.channel]]``: what is wrong is refused by its key, and nothing secret is shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from lakeguard.settings import AlertChannel, ChannelType, load_settings
from lakeguard.settings.channels import EVERY_KEY, OWN_KEYS
from lakeguard_sdk.core.enums import Layer, Severity
from lakeguard_sdk.errors import SettingsError
from lakeguard_sdk.model.notifications import AlertKind
from tests.support.projects.alert_channels import entry

HOOK: dict[str, Any] = {
    "type": "webhook",
    "url": "https://hooks.example/alerts?team=data",
    "secret": "env:HOOK_SECRET",
}
PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "alerts.md"


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAKEGUARD_ENV", raising=False)


def channels(folder: Path, *entries: str, before: str = "") -> tuple[AlertChannel, ...]:
    (folder / "lakeguard.toml").write_text("".join((before, *entries)))
    return load_settings(folder).alert_channels


def test_nothing_is_sent_by_default(tmp_path: Path) -> None:
    assert channels(tmp_path) == ()


def test_everything_that_can_be_set_is_read(tmp_path: Path) -> None:
    log, file, hook = channels(
        tmp_path,
        entry(type="log"),
        entry(type="file", path="out/alerts.jsonl", kinds=["blocked"], severities=["FAIL"]),
        entry(
            **HOOK, name="team", timeout_seconds=9, attempts=2,
            layers=["gold"], domains=["sales*"], datasets=["gold.*"],
        ),
    )  # fmt: skip
    assert (log.name, log.type) == ("log", ChannelType.LOG)
    assert file.path == tmp_path / "out" / "alerts.jsonl"
    assert (file.kinds, file.severities) == ((AlertKind.BLOCKED,), (Severity.FAIL,))
    assert (hook.name, hook.url) == ("team", HOOK["url"])
    assert hook.secret is not None
    assert hook.secret.variable == "HOOK_SECRET"
    assert (hook.timeout_seconds, hook.attempts) == (9, 2)
    assert (hook.layers, hook.domains, hook.datasets) == (
        (Layer.GOLD,),
        ("sales*",),
        ("gold.*",),
    )


def test_an_environment_has_its_own_channels_or_those_of_the_file(tmp_path: Path) -> None:
    own = entry(type="log", name="own").replace("alerts", "env.prod.alerts")
    channels(tmp_path, "[env.dev]\n[env.prod]\n[env.quiet.alerts]\n", own, entry(type="log"))
    names = {
        env: [channel.name for channel in load_settings(tmp_path, env).alert_channels]
        for env in ("dev", "prod", "quiet")
    }
    assert names == {"dev": ["log"], "prod": ["own"], "quiet": []}


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({}, "alerts.channel.type: write one of log, file, webhook"),
        ({"type": ["log"]}, "alerts.channel.type: write one of"),
        ({"type": "pager"}, "alerts.channel.type: write one of"),
        ({"type": "log", "path": "x"}, "unknown key 'path'"),
        ({"type": "log", "kind": ["blocked"]}, "did you mean kinds?"),
        ({"type": "log", "kinds": ["blokked"]}, "did you mean blocked?"),
        ({"type": "log", "kinds": []}, "an empty list matches nothing"),
        ({"type": "log", "kinds": "blocked"}, "write a list of strings"),
        ({"type": "log", "severities": ["BAD"]}, "(WARN, FAIL)"),
        ({"type": "log", "layers": ["lead"]}, "alerts.channel.layers: unknown value 'lead'"),
        ({"type": "log", "domains": [1]}, "write a list of strings"),
        ({"type": "log", "name": "My Log"}, "alerts.channel.name"),
        ({"type": "log", "name": "a" * 41}, "at most 40 characters"),
        ({"type": "log", "attempts": 0}, "a whole number from 1 to 100"),
        ({"type": "log", "attempts": True}, "a whole number from 1 to 100"),
        ({"type": "file"}, "alerts.channel.path"),
        ({**HOOK, "url": "http://hooks.example/"}, "write https://, or set allow_http = true"),
        ({**HOOK, "url": "ftp://hooks.example/"}, "write https://HOST/PATH"),
        ({**HOOK, "url": "https://"}, "write https://HOST/PATH"),
        ({**HOOK, "url": "https://hooks.example:x/"}, "write https://HOST/PATH"),
        ({**HOOK, "url": "https://hooks.example/a b"}, "write https://HOST/PATH"),
        ({**HOOK, "url": "https://hooks.example/#a"}, "write https://HOST/PATH"),
        ({**HOOK, "allow_http": "yes"}, "write true or false"),
        ({**HOOK, "timeout_seconds": 31}, "a whole number from 1 to 30"),
        ({**HOOK, "secret": "hunter2hunter2"}, "a secret must be a reference"),
        ({"type": "webhook", "url": HOOK["url"]}, "a webhook needs a signing secret"),
    ],
)
def test_what_is_wrong_is_refused(keys: dict[str, Any], problem: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        channels(tmp_path, entry(**keys))
    assert problem in str(caught.value)
    assert "lakeguard.toml" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert caught.value.next_step


@pytest.mark.parametrize(
    "url",
    [
        "https://ada:hunter2@hooks.example/",
        "https://hunter2@hooks.example/",
        "https://hooks.example/?token=hunter2",
        "https://hooks.example/services/T0A1B2C3D/B4E5F6G7H/x8Kq2Lm9Rt4Vw7Zy1Bc3Df5G",
    ],
)
def test_an_address_that_holds_a_secret_is_refused_and_not_shown(url: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="contains a secret") as caught:
        channels(tmp_path, entry(**{**HOOK, "url": url}))
    assert "hunter2" not in str(caught.value)
    assert "x8Kq" not in str(caught.value)


SLACK = "https://hooks.example/services/T0A1B2C3D/B4E5F6G7H/x8Kq2Lm9Rt4Vw7Zy1Bc3Df5G"


def test_an_address_that_is_a_secret_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hook").write_text(f"{SLACK}\n")
    monkeypatch.setenv("HOOK_URL", SLACK)
    by_name, by_file = channels(
        tmp_path,
        entry(**{**HOOK, "url": "env:HOOK_URL"}),
        entry(**{**HOOK, "url": "file:hook"}, name="other"),
    )
    for channel in (by_name, by_file):
        assert channel.url == ""
        assert channel.resolve_url() == SLACK
        assert "x8Kq" not in channel.to_json()
        assert "x8Kq" not in repr(channel)


@pytest.mark.parametrize(
    ("kept", "problem"),
    [
        (None, "the variable HOOK_URL is not set"),
        ("hunter2 is no address", "write https://HOST/PATH"),
        ("http://hooks.example/hunter2", "write https://, or set allow_http = true"),
        ("https://ada:hunter2@hooks.example/", "contains a secret before the @"),
    ],
)
def test_what_is_wrong_with_one_is_told_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: str | None, problem: str
) -> None:
    if kept is not None:
        monkeypatch.setenv("HOOK_URL", kept)
    (channel,) = channels(tmp_path, entry(**{**HOOK, "url": "env:HOOK_URL"}))
    with pytest.raises(SettingsError) as caught:
        channel.resolve_url()
    assert problem in str(caught.value)
    assert "alerts.channel.url" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def _with_type(line: str) -> str:
    return line if line.startswith("type") else f'type = "log"\n{line}'


@pytest.mark.parametrize("mistake", ['kinds = ["blokked"]', 'type = "pager"', "x = 1"])
def test_what_all_share_is_read_though_one_has_its_own(tmp_path: Path, mistake: str) -> None:
    with pytest.raises(SettingsError, match=r"alerts\.channel"):
        channels(tmp_path, "[env.dev.alerts]\n", "[[alerts.channel]]\n", f"{_with_type(mistake)}\n")


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x", "http://localhost/", "http://[::1]:8/"])
def test_this_machine_needs_no_tls(url: str, tmp_path: Path) -> None:
    (hook,) = channels(tmp_path, entry(**{**HOOK, "url": url}))
    assert hook.url == url


def test_http_can_be_allowed(tmp_path: Path) -> None:
    (hook,) = channels(tmp_path, entry(**{**HOOK, "url": "http://a.example/"}, allow_http=True))
    assert hook.url == "http://a.example/"


def test_two_channels_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="duplicate name 'log'"):
        channels(tmp_path, entry(type="log"), entry(type="log"))


@pytest.mark.parametrize("text", ["alerts = 1\n", "[alerts]\nchannel = 1\n", "[alerts]\nx = 1\n"])
def test_what_is_no_list_of_channels_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="alerts"):
        channels(tmp_path, before=text)


def test_every_key_is_documented_and_no_other() -> None:
    keys = {key for own in OWN_KEYS.values() for key in own} | set(EVERY_KEY)
    table = PAGE.read_text("utf-8").partition("| key of a channel |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == keys


def test_every_kind_is_documented() -> None:
    text = PAGE.read_text("utf-8")
    assert [kind for kind in AlertKind if f"`{kind}`" not in text] == []


MAIL: dict[str, Any] = {
    "type": "smtp",
    "host": "mail.example",
    "from": "lakeguard@example.com",
    "to": ["team@example.com"],
}


def test_channels_for_people(tmp_path: Path) -> None:
    slack, teams, mail = channels(
        tmp_path,
        entry(type="slack", url="env:SLACK_URL"),
        entry(type="teams", url="file:teams.url"),
        entry(**MAIL, user="lakeguard", password="env:MAIL_PASSWORD"),
    )
    assert (slack.type, slack.secret, slack.url) == (ChannelType.SLACK, None, "")
    assert slack.address is not None
    assert teams.address is not None
    assert mail.mail is not None
    assert (mail.mail.port, mail.mail.security) == (587, "starttls")
    assert mail.mail.recipients == ("team@example.com",)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"type": "slack", "url": "env:U", "secret": "env:S"}, "unknown key 'secret'"),
        ({**MAIL, "security": "none"}, "none is for this machine only"),
        ({**MAIL, "security": "ssl"}, "write one of starttls, tls, none"),
        ({**MAIL, "to": ["team"]}, "'team' is not a mail address"),
        ({**MAIL, "to": []}, "an empty list"),
        ({**MAIL, "from": "a@b\\nBcc: c@d"}, "from:"),
        ({**MAIL, "user": "x"}, "write user and password, or neither"),
        ({**MAIL, "password": "hunter2"}, "a secret must be a reference"),
    ],
)
def test_channels_for_people_that_are_refused(
    tmp_path: Path, wrong: dict[str, Any], problem: str
) -> None:
    with pytest.raises(SettingsError, match=re.escape(problem)):
        channels(tmp_path, entry(**wrong))


def test_people_get_no_events(tmp_path: Path) -> None:
    text = entry(type="slack", url="env:SLACK_URL").replace("alerts", "events")
    with pytest.raises(SettingsError, match="write one of log, file, webhook"):
        channels(tmp_path, text)
