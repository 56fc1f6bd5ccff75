"""Keys and responses of a store in messages, and which error they are."""

from __future__ import annotations

import sys

import pytest

from lakeguard_sdk.errors import (
    CredentialsExpired,
    StoreAccessRefused,
    StoreUnavailable,
    TableUnreadable,
)
from lakeguard_sdk.storage.object_store import ObjectStorage, StoreError
from lakeguard_sdk.storage.store_errors import store_failure, store_reason
from lakeguard_sdk.storage.store_options import Credentials, StoreOptions

KEYS = Credentials("AKIAEXAMPLE", "hidden-secret", "hidden-token")
PLACE = "s3://b/k"
BODY = (
    '<?xml version="1.0"?>\n<Error><Code>{}</Code><Message>Told.</Message>'
    "<Token-0>hidden-token</Token-0></Error>\n\nDebug source:\nGeneric { token: hidden-token }"
)
OBSTORE = (
    "Generic S3 error: Error performing GET http://host/b/k in 2ms, after 2 retries,"
    " max_retries: 2, retry_timeout: 3s  - "
)
DELTA = (
    "Kernel error -> Generic S3 error\n   \x1b[31m↳\x1b[0m Error performing GET http://host/b/t in"
    " 2ms - Server returned non-2xx status code\n     \x1b[31m↳\x1b[0m {} {}\n"
)
SPARK = (
    "java.nio.file.AccessDeniedException: s3a://b/k: software.amazon.awssdk.services.s3.model."
    "S3Exception: The provided token has expired (Service: S3, Status Code: 400, Request ID: 1)"
)


def responded(status: int, code: str) -> str:
    told = BODY.replace("{}", code, 1)
    return f"{OBSTORE}Server returned non-2xx status code: {status} Words: {told}"


def test_keys_are_not_shown() -> None:
    shown = repr(StoreOptions(given=KEYS)) + repr(KEYS) + str(KEYS)
    assert "hidden" not in shown
    assert "AKIA" not in shown


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(StoreError, match=r"package obstore: pip install 'lakeguard\[s3\]'"):
        ObjectStorage("s3://bucket", StoreOptions(given=KEYS))


def test_of_a_response_only_code_and_message_are_told() -> None:
    assert store_reason(responded(400, "Bad")) == "Bad: Told."
    assert store_reason("no route\nto host") == "no route to host"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"{OBSTORE}HTTP error: error sending request", StoreUnavailable),
        (responded(503, "SlowDown"), StoreUnavailable),
        (responded(429, "TooManyRequests"), StoreUnavailable),
        (responded(400, "ExpiredToken"), CredentialsExpired),
        (responded(403, "ExpiredToken"), CredentialsExpired),
        (responded(403, "InvalidAccessKeyId"), StoreAccessRefused),
        (f"{OBSTORE}Server returned non-2xx status code: 403 Forbidden: ", StoreAccessRefused),
        (DELTA.format(503, BODY), StoreUnavailable),
        (DELTA.format(403, BODY), StoreAccessRefused),
        (SPARK, CredentialsExpired),
        ("awssdk SdkClientException: Unable to execute HTTP request", StoreUnavailable),
    ],
)
def test_engines_tell_what_the_store_did(text: str, kind: type[StoreUnavailable]) -> None:
    found = store_failure(ValueError(text), PLACE)
    assert type(found) is kind
    assert PLACE in str(found)
    assert "hidden" not in str(found)


@pytest.mark.parametrize("text", [responded(400, "Bad"), "status code 503 of a web site", ""])
def test_other_errors_are_not_about_the_store(text: str) -> None:
    assert store_failure(ValueError(text), PLACE) is None


def test_a_cause_is_found_behind_the_error_that_it_caused() -> None:
    lost = StoreUnavailable(location=PLACE, reason="it is gone")
    blamed = TableUnreadable(dataset="a.b", location=PLACE, reason="its log")
    blamed.__context__ = lost
    assert store_failure(blamed, "elsewhere") is lost


def test_an_engine_that_keeps_only_the_text_is_understood() -> None:
    for kind in (StoreUnavailable, CredentialsExpired, StoreAccessRefused):
        told = f"duckdb.IOException: {kind(location=PLACE, reason='told')}"
        assert type(store_failure(ValueError(told), PLACE)) is kind


def test_only_a_refusal_is_final() -> None:
    assert StoreUnavailable.retryable
    assert CredentialsExpired.retryable
    assert not StoreAccessRefused.retryable
