"""Detects literal secrets where a reference belongs, and masks them."""

from __future__ import annotations

import math
import re
from collections import Counter

_KNOWN = re.compile(
    r"""
      \b(?:AKIA|ASIA)[0-9A-Z]{16}\b                     # AWS access keys
    | \bgh[pousr]_[A-Za-z0-9]{30,} | \bgithub_pat_\w{30,}
    | \bglpat-[\w-]{20,}
    | \bxox[abeprs]-[\w-]{10,}
    | \bsk-[\w-]{20,} | \b[rs]k_live_\w{16,}
    | \bdapi[0-9a-f]{32}\b
    | \bAIza[\w-]{35}
    | (?<![\w-])(?=[\w-]*?\beyJ[\w-]{10})[\w-]++\.[\w-]{10,}  # JSON web tokens
    | \blg[ts]1_[\w.-]{20,}                            # tokens of tasks and services
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY(?:-----(?:\\[nr]|[\w\s+/=:,-])*)?  # also as JSON
    | ://[^\s/:@]*:[^\s/@]+@                            # user:password@host
    """,
    re.VERBOSE,
)
_MARKS = (
    *("AKIA", "ASIA", "AIza", "dapi", "eyJ", "github_pat_"),
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    *("glpat-", "k_live_", "lgs1_", "lgt1_", "PRIVATE KEY", "sk-", "xox", "@"),
)
"""Every credential of a known format contains one of them, which is quick to check."""
_NAMED = re.compile(
    r"(?i)\b(?:\w*password|passwd|pwd|\w*secret(?:_?key)?|\w*token|api_?key|access_?key"
    r"|account_?key|client_?secret|sig|signature|credentials?)\b"
    r"""["']?\s*[:=]\s*["']?(?!(?:env|file|secret):)[^\s"'&,;{}]"""
)
_SENSITIVE_KEY = re.compile(
    r"(?i)(?:pass(?:word|wd|phrase)|\bpwd\b|secret|token|credential"
    r"|(?:api|access|account|private)[._-]?key)"
)
_REFERENCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*\Z|file:[^\s:][^\n]*\Z|secret://[^\s@]+\Z")
_DENSE = re.compile(r"[A-Za-z0-9+/=_-]{24,}")
_PATH = re.compile(r"/[a-z]+/")
_RUN = re.compile(r"run_[0-9A-HJKMNP-TV-Z]{26}")
_SOLID = re.compile(r"[A-Za-z0-9+]{32,}")
_LONG_WORD = re.compile(r"[A-Za-z0-9+]{20,}")
_NUMBERS = re.compile(r"[0-9]+")
_MASK = "*" * 8


def holds_secret(text: str) -> bool:
    """Whether the text contains a credential of a known format, or a long random-looking word.
    Suitable for any text."""
    if len(text) <= 10:
        return False
    if holds_credential(text):
        return True
    return any(_is_chance(match[0]) for match in _SOLID.finditer(text))


def may_hold_secret(text: str) -> bool:
    """Whether ``holds_secret`` may be true of any part of the text: a quick look at many texts, for
    instance at all those of a JSON document."""
    return any(mark in text for mark in _MARKS) or _SOLID.search(text) is not None


def looks_secret(text: str) -> bool:
    """Stricter than ``holds_secret``, for values that should not look random."""
    if holds_secret(text) or _NAMED.search(text):
        return True
    pieces = [text, *text.split("/")]
    return any(_is_dense(match[0]) for piece in pieces for match in _DENSE.finditer(piece))


def address_holds_secret(url: str) -> bool:
    """``looks_secret`` for URLs: path segments may be long, query values should not look
    random."""
    place, _, query = url.partition("?")
    if holds_secret(url) or _NAMED.search(url):
        return True
    if any(looks_secret(value) for value in re.split("[&;]", query)):
        return True
    return any(_is_chance(match[0]) for match in _LONG_WORD.finditer(place))


def is_sensitive_key(key: str) -> bool:
    """Whether a value of this key is a secret, whatever it looks like."""
    return _SENSITIVE_KEY.search(key) is not None


def is_written_out(key: str, text: str) -> bool:
    """Whether the text is a literal secret, not a reference."""
    return is_sensitive_key(key) and not is_reference(text)


def is_reference(text: str) -> bool:
    """Whether the text is a reference: ``env:NAME``, ``file:PATH`` or ``secret://…``."""
    return _REFERENCE.match(text) is not None


def holds_credential(text: str) -> bool:
    """Whether the text contains a credential of a known format."""
    return any(mark in text for mark in _MARKS) and _KNOWN.search(text) is not None


def without_credentials(text: str) -> str:
    """The text with credentials of a known format masked. Ids and digests stay as they are."""
    return _KNOWN.sub(_MASK, text)


def masked(line: str) -> str:
    """The line with everything that may be a secret masked, for display."""
    line = _KNOWN.sub(_MASK, line)
    named = _NAMED.search(line)
    if named:
        line = line[: named.end() - 1] + _MASK
    return _DENSE.sub(lambda match: _masked_word(match[0]), line)


def _masked_word(word: str) -> str:
    """A long word; of a path, each folder is judged alone, and folders of runs are shown."""
    if _PATH.match(word) is None:
        return _MASK if _is_dense(word) else word
    return "/".join(
        _MASK if _is_dense(name) and not _RUN.fullmatch(name) else name for name in word.split("/")
    )


def shown_value(key: str, text: str) -> str:
    """The value of this key for display: references are shown, secrets are masked."""
    if is_reference(text):
        return text
    return _MASK if is_sensitive_key(key) or holds_secret(text) else text


def _is_chance(word: str) -> bool:
    """Random-looking: dense, with digits scattered over it."""
    return len(_NUMBERS.findall(word)) >= 3 and _is_dense(word)


def _is_dense(word: str) -> bool:
    kinds = (any(map(test, word)) for test in (str.isupper, str.islower, str.isdigit))
    return all(kinds) and _entropy(word) >= 4.0


def _entropy(word: str) -> float:
    """Bits per character."""
    shares = [count / len(word) for count in Counter(word).values()]
    return -sum(share * math.log2(share) for share in shares)
