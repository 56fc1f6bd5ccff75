"""Requests reach public addresses only where the settings say so, whatever a name stands for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeguard_sdk.security.outbound import (
    AddressRefused,
    OutboundRules,
    outbound_client,
    parse_network,
    use_outbound,
)
from lakeguard_sdk.security.signed_webhook import NoAnswer, SignedPost
from openlaketx.extract.sources.http_source import Address, DownloadProblem, downloading
from tests.support.fakes.web_server import Page, Site, web_site

STRICT = OutboundRules(private=False)


@pytest.fixture
def strict() -> Iterator[None]:
    use_outbound(STRICT)
    yield
    use_outbound(OutboundRules())


@pytest.fixture
def site() -> Iterator[Site]:
    with web_site() as found:
        found.pages["/"] = Page(b"here")
        yield found


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1",
        "169.254.169.254", "100.64.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1",
        "::1", "::", "fe80::1%eth0", "fc00::1", "fec0::1", "ff02::1", "2001:db8::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::", "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::a00:1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    ],
)  # fmt: skip
def test_private_addresses_are_refused(address: str) -> None:
    assert not STRICT.allows(address)
    assert OutboundRules().allows(address)


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.215.14", "2606:4700::1111", "64:ff9b::101:101"]
)
def test_public_addresses_are_allowed(address: str) -> None:
    assert STRICT.allows(address)


@given(st.ip_addresses(v=4))
def test_an_ipv6_form_of_an_address_is_judged_as_the_address(address: object) -> None:
    assert STRICT.allows(f"::ffff:{address}") == STRICT.allows(str(address))


def test_named_networks_are_allowed() -> None:
    rules = OutboundRules(False, (parse_network("10.1.0.0/16"), parse_network("::1")))
    assert rules.allows("10.1.2.3")
    assert rules.allows("::1")
    assert not rules.allows("10.2.0.1")


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0", "2130706433", "0x7f.1"])
def test_this_machine_is_not_asked(site: Site, host: str) -> None:
    with outbound_client(timeout=5) as client, pytest.raises(AddressRefused, match="private"):
        client.get(f"http://{host}:{site.port}/")
    assert site.asked == []


@pytest.mark.usefixtures("strict")
def test_one_private_address_of_a_name_is_enough_to_refuse_it(site: Site) -> None:
    client = outbound_client(timeout=5, resolve=lambda *_: ["1.1.1.1", "127.0.0.1"])
    with client, pytest.raises(AddressRefused):
        client.get(f"http://hooks.example:{site.port}/")
    assert site.asked == []


def test_a_name_is_resolved_once_and_connected_as_checked(site: Site) -> None:
    asked = list[str]()

    def resolve(host: str, _: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"]

    use_outbound(OutboundRules(False, (parse_network("127.0.0.1"),)))
    try:
        with outbound_client(timeout=5, resolve=resolve) as client:
            response = client.get(f"http://hooks.example:{site.port}/")
    finally:
        use_outbound(OutboundRules())
    assert response.text == "here"
    assert response.request.headers["host"] == f"hooks.example:{site.port}"
    assert asked == ["hooks.example"]


def test_without_rules_this_machine_may_be_asked(site: Site) -> None:
    with outbound_client(timeout=5) as client:
        assert client.get(site.url).text == "here"


@pytest.mark.usefixtures("strict")
def test_a_webhook_says_that_its_address_is_private(site: Site) -> None:
    post = SignedPost(url=f"{site.url}/secret-path", secret="k", delivery="d", body=b"{}")
    with pytest.raises(NoAnswer) as refused:
        post.send(5.0)
    assert "private network" in str(refused.value)
    assert "secret-path" not in str(refused.value)


@pytest.mark.usefixtures("strict")
def test_a_download_says_that_its_address_is_private(site: Site) -> None:
    address = Address(f"{site.url}/file.csv?key={{key}}", {"key": "s3cret"})
    with (
        pytest.raises(DownloadProblem, match="private network") as refused,
        downloading(address, 5.0, packed=False),
    ):
        pass
    assert not refused.value.passing
    assert "s3cret" not in str(refused.value)
