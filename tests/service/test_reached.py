"""A service behind TLS and behind a proxy, over real sockets."""

from __future__ import annotations

import json
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from lakeguard.access.principal import Action
from lakeguard.cli.main import call
from lakeguard.http.app import create_app
from lakeguard.http.listen_address import parse_place
from lakeguard.http.listener import listen, serving
from lakeguard.service_plane import needs_tokens, open_service
from lakeguard.settings import load_settings
from lakeguard_sdk import connect
from lakeguard_sdk.errors import CertificateUnusable, ServiceNotTrusted
from tests.support.fakes.asked_app import token_for
from tests.support.fakes.certificates import write_certificate
from tests.support.projects.projects import numbers_project

TLS = 'tls_cert = "tls.pem"\ntls_key = "tls.key"\n'


@pytest.fixture(autouse=True)
def over_http() -> None:
    """These tests start their own services."""


@contextmanager
def served(folder: Path, settings: str, *, tokens: bool = False) -> Iterator[str]:
    numbers_project(folder)
    file = folder / "lakeguard.toml"
    file.write_text(f"{file.read_text()}\n[env.dev.service]\n{settings}")
    service = open_service(str(folder), parse_place("127.0.0.1:0"), tokens=tokens)
    with serving(create_app(service), listen(service)) as listener:
        yield listener.url


def test_commands_ask_a_service_over_tls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_certificate(tmp_path)
    with served(tmp_path, TLS) as url:
        assert url.startswith("https://")
        with pytest.raises(ServiceNotTrusted, match="certificate"):
            connect(url)  # nobody vouches for it
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "tls.pem"))
        monkeypatch.setenv("LAKEGUARD_URL", url)
        assert call(["status"]) == 0
        assert "bronze.numbers" in capsys.readouterr().out
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.get(url.replace("https", "http") + "/healthz")


def test_a_service_without_tls_is_asked_for_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(tmp_path, "") as url:
        monkeypatch.setenv("LAKEGUARD_URL", url.replace("http", "https"))
        assert call(["status"]) == 1
        told = capsys.readouterr().err
        assert "LG-6015" in told
        assert "Next: check the scheme of LAKEGUARD_URL" in told


def shown_by(url: str) -> bytes:
    """The certificate that a new connection gets."""
    place = parse_place(url.removeprefix("https://"))
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection((place.host, place.port), timeout=10) as plain,
        trusting.wrap_socket(plain) as wrapped,
    ):
        found = wrapped.getpeercert(binary_form=True)
    assert found is not None
    return found


def test_a_replaced_certificate_is_used_without_a_restart(tmp_path: Path) -> None:
    write_certificate(tmp_path)
    numbers_project(tmp_path)
    file = tmp_path / "lakeguard.toml"
    file.write_text(f"{file.read_text()}\n[env.dev.service]\n{TLS}")
    service = open_service(str(tmp_path), parse_place("127.0.0.1:0"))
    assert service.certificate is not None
    with serving(create_app(service), listen(service)) as listener:
        first = shown_by(listener.url)
        assert not service.certificate.reload()
        (tmp_path / "tls.key").write_text("half a file")
        assert not service.certificate.reload()
        assert shown_by(listener.url) == first
        write_certificate(tmp_path, "renewed")
        assert service.certificate.reload()
        assert shown_by(listener.url) != first


@pytest.mark.parametrize("damage", ["missing", "no PEM", "another key", "a password"])
def test_a_certificate_that_cannot_be_used_is_refused(tmp_path: Path, damage: str) -> None:
    write_certificate(tmp_path, password="x" if damage == "a password" else "")
    if damage == "missing":
        (tmp_path / "tls.key").unlink()
    elif damage == "no PEM":
        (tmp_path / "tls.pem").write_text("certificate")
    elif damage == "another key":
        chain = (tmp_path / "tls.pem").read_bytes()
        write_certificate(tmp_path)
        (tmp_path / "tls.pem").write_bytes(chain)
    with pytest.raises(CertificateUnusable), served(tmp_path, TLS):
        pass


def test_one_half_of_a_certificate_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert call(["serve", "--tls-cert", "tls.pem"]) == 2
    assert "both --tls-cert and --tls-key" in capsys.readouterr().err
    assert call(["serve", "--tls-cert", "tls.pem", "--tls-key", "tls.key"]) == 2
    assert "LG-1707" in capsys.readouterr().err


def addresses(
    url: str, caplog: pytest.LogCaptureFixture, forwarded: dict[str, str]
) -> tuple[str, str]:
    """As the service sees the client: address and scheme."""
    caplog.clear()
    with caplog.at_level("INFO", "lakeguard.access"):
        httpx.get(f"{url}/healthz", headers=forwarded)
        lines = list[str]()
        until = time.monotonic() + 20
        while not lines and time.monotonic() < until:  # it is logged once the answer was sent
            time.sleep(0.01)
            records = (each for each in caplog.records if each.name == "lakeguard.access")
            lines = [each.message for each in records]
    (line,) = lines
    found: dict[str, Any] = json.loads(line)
    return found["client"], found["scheme"]


FORWARDED = {"X-Forwarded-For": "203.0.113.9, 198.51.100.7", "X-Forwarded-Proto": "https"}


def test_a_proxy_is_believed_only_if_it_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with served(tmp_path / "a", "") as url:
        assert addresses(url, caplog, FORWARDED) == ("127.0.0.1", "http")
    with served(tmp_path / "b", 'trusted_proxies = ["127.0.0.0/8"]\n') as url:
        # the last address is what the proxy saw; those before it are what the client claimed
        assert addresses(url, caplog, FORWARDED) == ("198.51.100.7", "https")
        assert addresses(url, caplog, {}) == ("127.0.0.1", "http")


def test_guesses_through_a_proxy_are_counted_by_client(tmp_path: Path) -> None:
    settings = 'trusted_proxies = ["127.0.0.1"]\nrefused_tokens_per_minute = 6\n'
    with served(tmp_path, settings, tokens=True) as url:

        def status(client: str, token: str) -> int:
            headers = {"X-Forwarded-For": client, "Authorization": token}
            return httpx.get(f"{url}/api/v1/datasets", headers=headers).status_code

        guess = "Bearer lgs1_guess"
        assert [status("203.0.113.9", guess) for _ in range(2)] == [401, 429]
        assert status("203.0.113.10", token_for(tmp_path, "good", Action.READ)) == 200


def test_behind_a_proxy_tokens_are_required(tmp_path: Path) -> None:
    numbers_project(tmp_path)
    here = parse_place("127.0.0.1:0")
    assert not needs_tokens(load_settings(tmp_path), here)
    file = tmp_path / "lakeguard.toml"
    file.write_text(f'{file.read_text()}\n[env.dev.service]\ntrusted_proxies = ["10.0.0.1"]\n')
    assert needs_tokens(load_settings(tmp_path), here)
