"""Kinds of texts that are known by their form: addresses, codes, numbers with check digits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakeguard_sdk.expression import And, Condition, Matches, Predicate, Scalar, Test

_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = rf"(?:{_BYTE}[.]){{3}}{_BYTE}"
_HEX = "[0-9a-fA-F]"


@dataclass(frozen=True)
class TextKind:
    """A pattern for the whole text, and a predicate where the form alone proves little."""

    meaning: str
    pattern: str
    predicate: Predicate | None = None

    def condition(self, of: Scalar) -> Condition:
        """TRUE for texts of the kind."""
        form = Matches(of=of, pattern=self.pattern)
        if self.predicate is None:
            return form
        return And(items=(form, Test(predicate=self.predicate, of=of)))


def _kind(meaning: str, pattern: str) -> TextKind:
    return TextKind(meaning, pattern)


TEXT_KINDS: Mapping[str, TextKind] = {
    "email": _kind(
        "an address of e-mail",
        "[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}[.]){1,8}[A-Za-z]{2,63}",
    ),
    "url": _kind(
        "an address of the web",
        r"https?://[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?(?:[/?#][^ \t\n\r]*)?",
    ),
    "uuid": _kind("a UUID", f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"),
    "ipv4": _kind("an address of IPv4", _IPV4),
    "ipv6": _kind("an address of IPv6, written out", f"(?:{_HEX}{{1,4}}:){{7}}{_HEX}{{1,4}}"),
    "cidr": _kind("a block of addresses of IPv4", f"{_IPV4}/(?:3[0-2]|[12]?[0-9])"),
    "phone": _kind("an international telephone number without blanks", "[+][1-9][0-9]{6,14}"),
    "iban": TextKind(
        "an IBAN without blanks, with right check digits",
        "[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}",
        Predicate.IBAN,
    ),
    "card": TextKind(
        "a card's number of 12 to 19 digits, the last of them the right check digit",
        "[0-9]{12,19}",
        Predicate.LUHN,
    ),
    "country": _kind("a country's code of two letters", "[A-Z]{2}"),
    "currency": _kind("a currency's code of three letters", "[A-Z]{3}"),
    "language": _kind("a language's code, with or without a country", "[a-z]{2,3}(?:-[A-Z]{2})?"),
    "mac": _kind("a network card's address", f"(?:{_HEX}{{2}}:){{5}}{_HEX}{{2}}"),
}
