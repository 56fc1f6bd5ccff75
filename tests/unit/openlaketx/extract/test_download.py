"""A download is complete and from the configured host, and its secrets never leak."""

from __future__ import annotations

import gzip
import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.errors import SecretMissing, SourceUnreadable
from lakeguard_sdk.model.evidence import VersionPosition
from lakeguard_sdk.model.run import RunPlan, SourceBuild
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.engine.known_files import known_files
from openlaketx.extract.files.landed_files import landing
from openlaketx.extract.files.manifest import Selection
from openlaketx.extract.sources.http_source import file_name, land_download
from tests.support.fakes.source_history import SourceHistory
from tests.support.fakes.web_server import Page, Site, web_site
from tests.support.lakes.plans import plan, schema

TOKEN = "t0p/ secret&?#%41"
SPELLINGS = (TOKEN, "t0p%2F%20secret%26%3F%23%2541", "t0p/%20secret", "t0p%2F+secret")
BODY = b"a,b\n" + b"1,2\n" * 99_999


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("SHOP_TOKEN", TOKEN)
    with web_site() as made:
        yield made


def build_of(url: str, position: VersionPosition | None = None) -> SourceBuild:
    return SourceBuild(
        source="orders",
        format=SourceFormat.CSV,
        path="",
        url=url,
        secrets={"token": "env:SHOP_TOKEN"},
        position=position,
    )


def plan_of(lake: Path, build: SourceBuild, **changed: Any) -> RunPlan:
    as_of = datetime(2024, 2, 29, tzinfo=UTC)
    return plan(lake, build, schema(a="string"), as_of=as_of, **changed)


def folder_of(lake: Path) -> Path:
    return lake / "landing" / "orders" / "ingest_date=2024-02-29" / "execution_id=run_1"


def fetched(
    lake: Path, build: SourceBuild, read: SourceHistory | None = None, **changed: Any
) -> Selection | None:
    made = plan_of(lake, build, **changed)
    with landing(made, "orders", str(lake), LocalStorage()) as place:
        found = land_download(made, build, str(lake), place, known_files(made, read))
        if found is None:
            place.discard()
        return found


def failure(lake: Path, build: SourceBuild, **changed: Any) -> str:
    with pytest.raises(SourceUnreadable) as refusal:
        fetched(lake, build, **changed)
    assert not (lake / "landing").exists(), "nothing is left of it, no empty folder either"
    return json.dumps(refusal.value.to_data())


def test_a_file_arrives_as_it_is(tmp_path: Path, site: Site) -> None:
    site.pages["/v1/orders.csv"] = Page(BODY)
    selection = fetched(tmp_path, build_of(f"{site.url}/v1/orders.csv?key={{token}}"))
    assert selection is not None
    assert site.asked == ["/v1/orders.csv?key=t0p%2F%20secret%26%3F%23%2541"]
    assert (folder_of(tmp_path) / "orders.csv").read_bytes() == BODY
    assert list(map(selection.location, selection.files)) == [
        str(folder_of(tmp_path) / "orders.csv")
    ]
    (file,) = json.loads((folder_of(tmp_path) / "manifest.json").read_text())["files"]
    assert file["origin"] == f"{site.url}/v1/orders.csv?key={{token}}"
    assert [(f.path, f.sha256) for f in selection.position.files] == [
        ("orders.csv", file["sha256"])
    ]


def test_an_answer_in_chunks_is_whole_too(tmp_path: Path, site: Site) -> None:
    chunked = b"3\r\na,b\r\n4\r\n\n1,2\r\n0\r\n\r\n"
    site.pages["/a.csv"] = Page(chunked, headers={"Transfer-Encoding": "chunked"}, length=None)
    assert fetched(tmp_path, build_of(f"{site.url}/a.csv")) is not None
    assert (folder_of(tmp_path) / "a.csv").read_bytes() == b"a,b\n1,2"


@pytest.mark.parametrize("headers", [{}, {"Content-Encoding": "gzip"}])
def test_a_packed_file_stays_packed(tmp_path: Path, site: Site, headers: dict[str, str]) -> None:
    site.pages["/a.csv.gz"] = Page(gzip.compress(BODY), headers=headers)
    assert fetched(tmp_path, build_of(f"{site.url}/a.csv.gz")) is not None
    assert gzip.decompress((folder_of(tmp_path) / "a.csv.gz").read_bytes()) == BODY


@pytest.mark.parametrize(
    ("page", "about"),
    [
        (Page(b"oops", status=500), "the server returned 500 Internal Server Error"),
        (Page(status=404), "the server returned 404 Not Found"),
        (Page(status=204), "the server returned 204"),
        (Page(b"part", status=206), "the server returned 206"),
        (Page(BODY, length=len(BODY) + 1), "peer closed connection"),
        (Page(b"", length=7), "peer closed connection"),
        (
            Page(b"5\r\na,b", headers={"Transfer-Encoding": "chunked"}, length=None),
            "peer closed connection",
        ),
        (Page(BODY, length=None), "the response has no length"),
        (Page(BODY, pause=2.0), "no response from the server for 0.5 seconds"),
        (Page(BODY, headers={"Content-Encoding": "br"}), "unexpected content encoding br"),
        (Page(BODY, headers={"Content-Encoding": "gzip"}), "unexpected content encoding gzip"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_what_is_not_a_whole_file_is_refused(
    tmp_path: Path, site: Site, page: Page, about: str
) -> None:
    site.pages["/a.csv"] = page
    build = build_of(f"{site.url}/a.csv?key={{token}}")
    assert about in failure(tmp_path, build, settings={"timeout_seconds": "0.5"})


def test_nobody_there_is_told(tmp_path: Path, site: Site) -> None:
    reported = failure(tmp_path, build_of("http://127.0.0.1:1/{token}/a.csv"))
    assert "Connection refused" in reported
    assert json.loads(reported)["retryable"]


@pytest.mark.parametrize(
    ("page", "passing"),
    [
        (Page(status=500), True),
        (Page(status=503), True),
        (Page(status=429), True),
        (Page(status=408), True),
        (Page(BODY, length=len(BODY) + 1), True),
        (Page(BODY, pause=2.0), True),
        (Page(status=404), False),
        (Page(status=401), False),
        (Page(status=204), False),
        (Page(BODY, length=None), False),
        (Page(status=302, headers={"Location": "http://elsewhere/"}), False),
        (Page(status=302, headers={"Location": "/a.csv"}), False),
    ],
    ids=lambda value: f"{value.status}" if isinstance(value, Page) else "",
)
def test_what_may_pass_by_itself_is_worth_another_try(
    tmp_path: Path, site: Site, page: Page, passing: bool
) -> None:
    site.pages["/a.csv"] = page
    settings = {"timeout_seconds": "0.5"}
    document = json.loads(failure(tmp_path, build_of(f"{site.url}/a.csv"), settings=settings))
    assert (document["retryable"], document["code"]) == (
        passing,
        "LG-5009" if passing else "LG-5003",
    )


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/a.csv", "127.0.0.1/a.csv"])
def test_an_address_that_is_none_stays_wrong(tmp_path: Path, site: Site, url: str) -> None:
    assert not json.loads(failure(tmp_path, build_of(url)))["retryable"]


def test_a_redirect_within_the_host_is_followed(tmp_path: Path, site: Site) -> None:
    site.pages["/a.csv"] = Page(status=302, headers={"Location": "/b?key=1"})
    site.pages["/b"] = Page(BODY)
    assert fetched(tmp_path, build_of(f"{site.url}/a.csv")) is not None
    assert (folder_of(tmp_path) / "a.csv").read_bytes() == BODY
    assert site.asked == ["/a.csv", "/b?key=1"]


@pytest.mark.parametrize(
    "target", ["http://localhost:{port}/b", "http://127.0.0.1:1/b", "https://127.0.0.1:{port}/b"]
)
def test_no_token_goes_to_another_host(tmp_path: Path, site: Site, target: str) -> None:
    location = target.format(port=site.port) + f"?{SPELLINGS[1]}"
    site.pages["/a.csv"] = Page(status=302, headers={"Location": location})
    reported = failure(tmp_path, build_of(f"{site.url}/a.csv?key={{token}}"))
    assert "redirects to another host" in reported
    assert len(site.asked) == 1


def test_a_redirect_without_end_is_refused(tmp_path: Path, site: Site) -> None:
    site.pages["/a.csv"] = Page(status=302, headers={"Location": "/a.csv"})
    assert "redirects more than 5 times" in failure(tmp_path, build_of(f"{site.url}/a.csv"))


@pytest.mark.parametrize(
    "page",
    [
        Page(BODY),
        Page(status=500),
        Page(BODY, length=len(BODY) + 1),
        Page(BODY, pause=2.0),
        Page(status=302, headers={"Location": f"http://elsewhere/{SPELLINGS[1]}"}),
        Page(status=302, headers={"Location": f"http://{'t0p'}.example/{SPELLINGS[1]}"}),
        Page(status=302, headers={"Location": f"//[{SPELLINGS[1]}"}),
        Page(BODY, headers={"Content-Encoding": SPELLINGS[1]}),
    ],
    ids=["good", "500", "cut", "slow", "elsewhere", "host", "no address", "echo"],
)
def test_the_token_is_shown_to_nobody(
    tmp_path: Path,
    site: Site,
    page: Page,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    site.pages["/a.csv"] = page
    build = build_of(f"{site.url}/a.csv?key={{token}}")
    made = plan_of(tmp_path, build, settings={"timeout_seconds": "0.5"})
    described = [made.to_json()]
    with caplog.at_level(logging.DEBUG):
        for name in ("httpx", "httpcore"):
            caplog.set_level(logging.DEBUG, logger=name)
        try:
            selection = fetched(tmp_path, build, settings={"timeout_seconds": "0.5"})
            assert selection is not None
            described += [repr(selection), selection.position.to_json()]
            described.append((folder_of(tmp_path) / "manifest.json").read_text())
        except SourceUnreadable as error:
            described += [json.dumps(error.to_data()), repr(error), repr(error.__cause__)]
    assert "key=" in site.asked[0]
    text = "".join([*described, caplog.text, *capfd.readouterr()])
    assert [spelling for spelling in SPELLINGS if spelling in text] == []


def test_a_secret_that_is_not_set_is_named(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHOP_TOKEN")
    with pytest.raises(SecretMissing, match="env:SHOP_TOKEN"):
        fetched(tmp_path, build_of(f"{site.url}/a.csv?key={{token}}"))
    assert (site.asked, folder_of(tmp_path).exists()) == ([], False)


@pytest.mark.parametrize(
    ("load", "read"),
    [
        (LoadType.FULL, "AABA"),
        (LoadType.SNAPSHOT, "AABA"),
        (LoadType.APPEND, "AB"),
        (LoadType.INCREMENTAL, "ABA"),
    ],
)
def test_what_is_read_again(tmp_path: Path, site: Site, load: LoadType, read: str) -> None:
    """A state that returns is new to a keyed load, and known to an APPEND."""
    history, reported = SourceHistory(), ""
    for number, state in enumerate("AABA"):
        site.pages["/a.csv"] = Page(state.encode())
        lake = tmp_path / str(number)
        keyed = {"type": load, "keys": ["a"]} if load is LoadType.INCREMENTAL else load
        build = build_of(f"{site.url}/a.csv", history.position)
        selection = fetched(lake, build, history, load=keyed)
        assert folder_of(lake).exists() == (selection is not None)
        if selection is not None:
            reported += Path(selection.location(selection.files[0])).read_text()
            history.add(selection.position)
    assert reported == read


@pytest.mark.parametrize(
    ("url", "settings", "name"),
    [
        ("https://h/x/orders%20of%20today.csv?a=b", {}, "orders_of_today.csv"),
        ("https://h/x/orders.csv.gz", {}, "orders.csv.gz"),
        ("https://h/x/orders", {"file_name": "o.csv"}, "o.csv"),
        ("https://h/x/orders", {"file_name": "../../o.csv"}, "o.csv"),
        ("https://h/x/orders", {}, "orders"),
        ("https://h/{token}", {}, "orders.csv"),
        ("https://h/", {}, "orders.csv"),
        ("https://h/manifest.json", {}, "orders.csv"),
        ("https://h/..", {}, "orders.csv"),
    ],
)
def test_the_name_of_the_file(url: str, settings: dict[str, str], name: str) -> None:
    assert file_name(build_of(url), settings) == name


@pytest.mark.parametrize("text", ["0", "-1", "soon", "1e9", "nan"])
def test_a_patience_that_is_none_is_refused(tmp_path: Path, site: Site, text: str) -> None:
    reported = failure(tmp_path, build_of(f"{site.url}/a.csv"), settings={"timeout_seconds": text})
    assert "timeout_seconds must be a number of seconds up to 3600" in reported
