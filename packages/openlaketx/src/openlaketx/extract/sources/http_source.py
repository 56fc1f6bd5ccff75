"""Download of one file: complete, from the configured host, with secrets redacted."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import quote, unquote, urlsplit

import httpx

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.http_logging import unlogged
from lakeguard_sdk.model.evidence import SourceFile, SourcePosition
from lakeguard_sdk.model.load import NEW_ROWS_ONLY
from lakeguard_sdk.model.run import RunPlan, SourceBuild
from lakeguard_sdk.security.outbound import AddressRefused, outbound_client
from lakeguard_sdk.security.secret_references import resolve_all, without
from openlaketx.engine.known_files import KnownFiles
from openlaketx.extract.files.landed_files import MANIFEST, Landing
from openlaketx.extract.files.manifest import Selection

_CONNECT_SECONDS = 10.0
_LONGEST_SECONDS = 6 * 3600.0
_MOST_REDIRECTS = 5
_COME_BACK = (httpx.codes.REQUEST_TIMEOUT, httpx.codes.TOO_EARLY, httpx.codes.TOO_MANY_REQUESTS)
_OUR_FAULT = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)


class DownloadProblem(ValueError):
    """Why the download failed, without secrets."""

    def __init__(self, why: str, *, passing: bool) -> None:
        super().__init__(why)
        self.passing = passing
        """Whether a retry may succeed."""


@dataclass(frozen=True, repr=False)
class Address:
    """A URL template, and the secrets for its ``{name}`` placeholders."""

    written: str
    secrets: dict[str, str]

    @classmethod
    def of(cls, written: str, references: Mapping[str, str]) -> Address:
        return cls(written, resolve_all(references))

    @property
    def filled(self) -> str:
        url = self.written
        for name, value in self.secrets.items():
            url = url.replace("{" + name + "}", quote(value, safe=""))
        return url

    def problem(self, why: str, *, passing: bool = False) -> DownloadProblem:
        message = f"{self.written}: {without(why, self.secrets.values())}"
        return DownloadProblem(message, passing=passing)


@contextmanager
def downloading(address: Address, seconds: float, *, packed: bool) -> Iterator[Iterator[bytes]]:
    """The bytes of the file; ``DownloadProblem`` unless all of them arrive.

    ``seconds`` is the timeout of each read. ``packed`` allows gzip encoding, because the file
    itself is a .gz.
    """
    timeout = httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
    headers = {"Accept-Encoding": "identity", "User-Agent": "openlaketx"}
    with unlogged(), outbound_client(timeout=timeout, headers=headers, use_proxies=True) as client:
        try:
            with _answered(client, address) as response:
                _check(response, address, packed=packed)
                yield _body(response, address)
        except httpx.TimeoutException:
            message = f"no response from the server for {seconds:g} seconds"
            raise address.problem(message, passing=True) from None
        except AddressRefused as error:
            raise address.problem(str(error.strerror)) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            broken = isinstance(error, httpx.TransportError) and not isinstance(error, _OUR_FAULT)
            raise address.problem(str(error) or type(error).__name__, passing=broken) from None


@contextmanager
def _answered(client: httpx.Client, address: Address) -> Iterator[httpx.Response]:
    """Follows redirects on the same host, never to another host or from TLS to plain HTTP."""
    url = httpx.URL(address.filled)
    for _ in range(_MOST_REDIRECTS + 1):
        with client.stream("GET", url) as response:
            if not response.has_redirect_location:
                yield response
                return
            target = url.join(response.headers["location"])
        if (target.host, target.port) != (url.host, url.port) or target.scheme != url.scheme:
            raise address.problem(f"the server redirects to another host, {target.host}")
        url = target
    raise address.problem(f"the server redirects more than {_MOST_REDIRECTS} times")


def _check(response: httpx.Response, address: Address, *, packed: bool) -> None:
    if response.status_code != httpx.codes.OK:
        status = f"{response.status_code} {response.reason_phrase}".strip()
        passing = response.is_server_error or response.status_code in _COME_BACK
        raise address.problem(f"the server returned {status}", passing=passing)
    headers = response.headers
    encoding = headers.get("content-encoding", "identity").lower()
    if encoding != "identity" and not (packed and encoding in ("gzip", "x-gzip")):
        raise address.problem(f"unexpected content encoding {encoding}")
    if "content-length" not in headers and "transfer-encoding" not in headers:
        raise address.problem("the response has no length, so it may be incomplete")


def _body(response: httpx.Response, address: Address) -> Iterator[bytes]:
    started, size = time.monotonic(), 0
    for chunk in response.iter_raw():
        size += len(chunk)
        if time.monotonic() - started > _LONGEST_SECONDS:
            raise address.problem(f"the response took longer than {_LONGEST_SECONDS:g} seconds")
        yield chunk
    length = response.headers.get("content-length")
    if length is not None and int(length) != size:
        raise address.problem(f"the response has {size} bytes instead of {length}", passing=True)


# The downloaded file is landed, and is the only file of its source.

FILE_NAME = "file_name"
TIMEOUT = "timeout_seconds"
_PATIENCE_SECONDS = "60"
_ODD = re.compile(r"[^A-Za-z0-9._-]+")


def land_download(
    plan: RunPlan, build: SourceBuild, lake: str, landing: Landing, known: KnownFiles | None
) -> Selection | None:
    """The downloaded file; None if a load of new rows has read the same content before."""
    name = file_name(build, plan.settings)
    seconds = _seconds(plan.settings, landing)
    address = Address.of(build.url, build.secrets)
    try:
        with downloading(address, seconds, packed=name.endswith(".gz")) as chunks:
            received = landing.receive(name, build.url, chunks)
    except DownloadProblem as problem:
        error = landing.unavailable if problem.passing else landing.unreadable
        raise error(str(problem)) from None
    # APPEND must never read the same content twice; other loads may return to an old state.
    appends = plan.load.type is LoadType.APPEND
    file = SourceFile(
        path=name, size=received.size, modified_ms=0, sha256=received.sha256, by_content=appends
    )
    before = known.among((file.sha256, name)).values() if known else ()
    if plan.load.type in NEW_ROWS_ONLY and file.sha256 in (other.sha256 for other in before):
        return None
    since = known.position.version if known and appends else 0
    return Selection(
        source=build.source,
        dataset=str(plan.dataset),
        root=lake,
        files=(file,),
        position=SourcePosition(since=since, files=(file,)),
        places={name: str(landing.place(name))},
        landed=True,
    )


def file_name(build: SourceBuild, settings: Mapping[str, str]) -> str:
    """The configured name, else the last part of the URL path, else the source's name."""
    path = urlsplit(build.url).path
    last = unquote(PurePosixPath(path).name)
    name = settings.get(FILE_NAME) or ("" if "{" in last else last)
    name = _ODD.sub("_", name).lstrip("._")
    return name if name and name != MANIFEST else f"{build.source}.{build.format}"


def _seconds(settings: Mapping[str, str], landing: Landing) -> float:
    text = settings.get(TIMEOUT, _PATIENCE_SECONDS)
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3600:
        raise landing.unreadable(f"{TIMEOUT} must be a number of seconds up to 3600, not {text!r}")
    return seconds
