"""Parsers for single values of a job's settings.

Each returns the value, or raises ``ValueError`` with a message for the author.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from keyword import iskeyword
from typing import Any, TypeVar
from zoneinfo import available_timezones

from lakeguard.gate.grammar.literals import duration, is_duration
from lakeguard.registry.text.characters import flag_of
from lakeguard.settings.settings import problem_of_address
from lakeguard_sdk.core.dataset_name import DatasetName, check_word
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import BadName
from lakeguard_sdk.scheduling.cron import parse_cron
from lakeguard_sdk.scheduling.cron_zones import zone_of
from lakeguard_sdk.scheduling.event_patterns import pattern_problems

Choice = TypeVar("Choice", bound=StrEnum)
Named = TypeVar("Named", bound=str)

MAX_NAMES = 100
MAX_TIMEOUT = 7 * 86_400
_NO_SCHEDULE = frozenset({"none", "manual", "adhoc", "ad_hoc", "ad-hoc", "on_demand", "on-demand"})
"""What other systems write for a job without a schedule."""
_MACHINE_ZONES = frozenset({"localtime", "posixrules", "Factory"})
_IGNORED_PREFIXES = ("_", ".")
"""Files with these prefixes belong to other tools and trigger nothing."""
_CALL = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*\Z", re.ASCII)


def whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        number = int(text) if re.fullmatch(r"-?[0-9]{1,9}", text, re.ASCII) else None
        if number is None or not least <= number <= most:
            raise ValueError(f"write a number from {least:,} to {most:,}")
        return number

    return read


def seconds(text: str) -> int:
    """A duration, in the syntax of rules."""
    if not is_duration(text) or duration(text).total_seconds() > MAX_TIMEOUT:
        raise ValueError("write a duration such as 90s, 15m or 2h, at most 7d")
    return int(duration(text).total_seconds())


def choice(options: type[Choice]) -> Callable[[str], Choice]:
    def read(text: str) -> Choice:
        words = [option.value for option in options]
        if text not in words:
            hint = did_you_mean(text, words) or f"; write {' or '.join(words)}"
            raise ValueError(f"invalid value {text[:80]!r}{hint}")
        return options(text)

    return read


def words(text: str) -> tuple[str, ...]:
    return _names(text, check_word, "names in lower snake case")


def datasets(text: str) -> tuple[DatasetName, ...]:
    return _names(text, DatasetName, "datasets as layer.name")


def _names(text: str, read: Callable[[str], Named], form: str) -> tuple[Named, ...]:
    """Distinct names separated by commas or spaces, sorted."""
    items = text.replace(",", " ").split()
    try:
        names = sorted(map(read, items))
    except BadName as error:
        raise ValueError(
            f"{error.fields['name'][:80]!r} is not a valid name; write {form}"
        ) from None
    if not names or len(names) > MAX_NAMES:
        raise ValueError(f"write {form}, separated by commas, at most {MAX_NAMES}")
    if len(set(names)) < len(names):
        raise ValueError("duplicate name")
    return tuple(names)


def schedule(text: str) -> str:
    """A cron expression with single spaces."""
    parse_cron(text)
    return " ".join(text.lower().split())


def frequency(text: str) -> str | None:
    """As ``schedule``; None for words such as ``manual``."""
    return None if text.lower() in _NO_SCHEDULE else schedule(text)


def time_zone(text: str) -> str:
    """A zone that does not depend on the machine."""
    if text in _MACHINE_ZONES:
        raise ValueError(f"{text} depends on the machine; write a zone such as Europe/Berlin")
    try:
        return zone_of(text).key
    except ValueError as error:
        near = did_you_mean(text, available_timezones() - _MACHINE_ZONES)
        raise ValueError(f"{error}{near}") from None


def glob(text: str) -> str:
    """A glob below the lake's root; it cannot leave it."""
    steps = text.split("/")
    if not text or "\\" in text or ":" in text or "" in steps or {".", ".."} & set(steps):
        raise ValueError("write a path below the lake's root, such as landing/*.csv")
    problem = _pattern_problem(steps)
    if problem:
        raise ValueError(problem)
    return text


def _pattern_problem(steps: list[str]) -> str:
    """Why a pattern would match nothing, or other files than expected."""
    if not all(map(str.isprintable, steps)):
        return "write it on one line"
    if any("**" in step and step != "**" for step in steps):
        return "** must be a whole path segment, such as landing/**/*.csv"
    if any(re.search(r"\[(?!!?\]?[^\]]*\])", step) for step in steps):
        return "unclosed ["
    if any(re.search(r"\{[^{}]*,[^{}]*\}", step) for step in steps):
        return "braces are not supported; write one job for each, or use * and [abc]"
    if steps[-1].startswith(_IGNORED_PREFIXES):
        return "files whose names begin with _ or . are ignored"
    return ""


def call(text: str) -> str:
    if not _CALL.match(text):
        raise ValueError("write package.module:function")
    reserved = next((word for word in re.split("[.:]", text) if iskeyword(word)), None)
    if reserved:
        raise ValueError(f"{reserved} is a reserved word of Python")
    return text


def address(text: str) -> str:
    """An https URL; http is allowed for this machine only."""
    if problem_of_address(text, allow_http=False):
        raise ValueError("write https://HOST/PATH; http:// is allowed for this machine only")
    return text


def pattern(text: str) -> dict[str, Any]:
    """An event pattern, as JSON."""
    try:
        found = json.loads(text, object_pairs_hook=_each_key_once, parse_constant=_no_number)
    except _AmbiguousJson:
        raise
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not found:
        raise ValueError('write a pattern as JSON, such as {"source": ["orders"]}')
    problems = pattern_problems(found)
    if problems:
        raise ValueError(problems[0])
    return found


class _AmbiguousJson(ValueError):
    """JSON that parses, but probably not as intended."""


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        duplicate = next(
            key for key, count in Counter(key for key, _ in pairs).items() if count > 1
        )
        raise _AmbiguousJson(f"duplicate key {duplicate[:80]!r}; write its values in one list")
    return found


def _no_number(text: str) -> Any:
    raise _AmbiguousJson(f"{text} is not a number")


def name_elsewhere(text: str) -> str:
    """A name in another system."""
    if not text:
        raise ValueError("write a name")
    return text


def rule_pattern(text: str) -> dict[str, Any]:
    """Events of an EventBridge rule, by its name or its ARN; or a pattern."""
    rule = text.strip()
    if rule.startswith("{"):
        return pattern(rule)
    if not rule or not rule.isprintable():
        raise ValueError("write a rule name, its ARN or a pattern")
    return {"resources": [rule if rule.startswith("arn:") else {"suffix": f"/{rule}"}]}


def flag(text: str) -> bool:
    found = flag_of(text)
    if found is None:
        raise ValueError("write true or false")
    return found
