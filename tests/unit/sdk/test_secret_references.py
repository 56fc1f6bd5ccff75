"""A secret is read by its reference, and no error or text shows it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lakeguard_sdk.errors import SecretMissing
from lakeguard_sdk.security.secret_references import resolve, resolve_all, without

VALUE = "s3cr et/+&?"


def test_a_variable_and_a_file_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", VALUE)
    (tmp_path / "token").write_text(VALUE + "\r\n")
    references = {"a": "env:TOKEN", "b": f"file:{tmp_path}/token"}
    assert resolve_all(references) == {"a": VALUE, "b": VALUE}


def test_what_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOKEN", raising=False)
    with pytest.raises(SecretMissing, match="env:TOKEN could not be read: the variable is not set"):
        resolve("env:TOKEN")
    with pytest.raises(SecretMissing, match=r"file:.*/token could not be read: No such file"):
        resolve(f"file:{tmp_path}/token")


def test_an_empty_secret_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", " ")
    (tmp_path / "token").write_text("\n")
    for reference in ("env:TOKEN", f"file:{tmp_path}/token"):
        with pytest.raises(SecretMissing, match="it is empty"):
            resolve(reference)


def test_what_is_no_plain_file_is_refused_and_waited_for_by_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path):
        with pytest.raises(SecretMissing, match="it is not a regular file"):
            resolve(f"file:{place}")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(b"\xff\xfe")
    with pytest.raises(SecretMissing, match="not text"):
        resolve(f"file:{tmp_path}/token")


@pytest.mark.parametrize("written", ["hunter2", "secret:hunter2", "env:", "file:", ""])
def test_what_is_no_reference_is_refused_and_not_repeated(written: str) -> None:
    with pytest.raises(SecretMissing) as refusal:
        resolve(written)
    assert "hunter2" not in str(refusal.value.to_data())


def test_no_spelling_of_a_secret_is_left_in_a_text() -> None:
    text = f"GET /x?t=s3cr%20et%2F%2B%26%3F&u=s3cr+et%2F%2B%26%3F and {VALUE}"
    assert without(text, [VALUE, ""]) == "GET /x?t=***&u=*** and ***"


def test_the_longest_secret_is_masked_first() -> None:
    assert without("abcdef", ["abc", "abcdef"]) == "***"
