"""Credentials of the standard chain of AWS: found once, and found anew when that is wanted."""

from __future__ import annotations

import pytest

from lakeguard_sdk.storage.aws_chain import AwsChain, Credentials


@pytest.fixture
def chain(monkeypatch: pytest.MonkeyPatch) -> AwsChain:
    use_keys(monkeypatch, "first")
    return AwsChain()


def use_keys(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", name)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", f"secret of {name}")


def test_what_was_found_is_used_until_it_is_renewed(
    chain: AwsChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Credentials("first", "secret of first")
    assert chain.current() == first
    use_keys(monkeypatch, "second")
    assert chain.current() == first
    assert chain.renewed() == Credentials("second", "secret of second")
    assert chain.current() == Credentials("second", "secret of second")


def test_keys_are_not_shown(chain: AwsChain) -> None:
    assert "first" not in repr(chain.current())
