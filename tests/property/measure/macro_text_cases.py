"""What the catalogue says of texts, in plain Python and without a pattern."""

from __future__ import annotations

import string
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from uuid import UUID

from tests.property.measure.macro_oracle import Oracle, each

_BLANK = set(" \t\n\x0b\x0c\r\xa0")
_DIGITS = set(string.digits)
_CAPITALS, _SMALL = set(string.ascii_uppercase), set(string.ascii_lowercase)
_LETTERS = _CAPITALS | _SMALL
_HEX = _DIGITS | set("abcdefABCDEF")


def _made_of(text: str, allowed: set[str], least: int, most: int) -> bool:
    return least <= len(text) <= most and set(text) <= allowed


def email(text: str) -> bool:
    box, at, host = text.partition("@")
    *labels, top = host.split(".")
    return (
        at == "@"
        and _made_of(box, _LETTERS | _DIGITS | set("._%+-"), 1, 64)
        and 1 <= len(labels) <= 8
        and all(_made_of(label, _LETTERS | _DIGITS | {"-"}, 1, 63) for label in labels)
        and _made_of(top, _LETTERS, 2, 63)
    )


def url(text: str) -> bool:
    scheme, mark, rest = text.partition("://")
    end = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
    host, colon, port = rest[:end].partition(":")
    return (
        mark != ""
        and scheme in ("http", "https")
        and _made_of(host, _LETTERS | _DIGITS | set(".-"), 1, 253)
        and (not colon or _made_of(port, _DIGITS, 1, 5))
        and not set(rest[end:]) & set(" \t\n\r")
    )


def uuid(text: str) -> bool:
    try:
        return text.isascii() and str(UUID(text)) == text.lower()
    except ValueError:
        return False


def ipv4(text: str) -> bool:
    try:
        return str(IPv4Address(text)) == text
    except AddressValueError:
        return False


def ipv6(text: str) -> bool:
    """Written out: eight groups, and none of them left to be thought of."""
    if "::" in text or "." in text or "%" in text:
        return False
    try:
        return IPv6Address(text).version == 6
    except AddressValueError:
        return False


def cidr(text: str) -> bool:
    address, _, bits = text.partition("/")
    return ipv4(address) and bits in {str(number) for number in range(33)}


def phone(text: str) -> bool:
    return text[:1] == "+" and text[1:2] != "0" and _made_of(text[1:], _DIGITS, 7, 15)


def iban(text: str) -> bool:
    """The check digits are those that one would work out for such an account."""
    country, digits, account = text[:2], text[2:4], text[4:]
    if not _made_of(country, _CAPITALS, 2, 2):
        return False
    if not _made_of(account, _CAPITALS | _DIGITS, 11, 30):
        return False
    number = "".join(str(int(sign, 36)) for sign in account + country)
    return digits == f"{98 - int(number + '00') % 97:02d}"


def card(text: str) -> bool:
    """The last digit is the one that brings the others, each second one doubled, to a ten."""
    if not _made_of(text, _DIGITS, 12, 19):
        return False
    doubled = [sum(map(int, str(2 * int(digit)))) for digit in text[-2::-2]]
    return -sum([*doubled, *map(int, text[-3::-2])]) % 10 == int(text[-1])


def language(text: str) -> bool:
    code, mark, country = text.partition("-")
    return _made_of(code, _SMALL, 2, 3) and (not mark or _made_of(country, _CAPITALS, 2, 2))


def mac(text: str) -> bool:
    parts = text.split(":")
    return len(parts) == 6 and all(_made_of(part, _HEX, 2, 2) for part in parts)


SHAPES = {
    "email": email,
    "url": url,
    "uuid": uuid,
    "ipv4": ipv4,
    "ipv6": ipv6,
    "cidr": cidr,
    "phone": phone,
    "iban": iban,
    "card": card,
    "country": lambda text: _made_of(text, _CAPITALS, 2, 2),
    "currency": lambda text: _made_of(text, _CAPITALS, 3, 3),
    "language": language,
    "mac": mac,
}
TEXT_MACROS: dict[str, Oracle] = {
    "not_empty(s)": each("s", lambda text: text != ""),
    "not_blank(s)": each("s", lambda text: bool(set(text) - _BLANK)),
    "trimmed(s)": each("s", lambda text: not {*text[:1], *text[-1:]} & _BLANK),
    "upper_case(s)": each("s", lambda text: not set(text) & _SMALL),
    "lower_case(s)": each("s", lambda text: not set(text) & _CAPITALS),
    "ascii(s)": each("s", lambda text: all(32 <= ord(char) <= 126 for char in text)),
    "charset(s, pattern='[0-9.]*')": each("s", lambda text: set(text) <= _DIGITS | {"."}),
    **{f"format_{form}({form})": each(form, shape) for form, shape in SHAPES.items()},
}
