"""Single values of a job's settings: what each may say, and what is wrong with one that may not.

Every reader answers the value, or raises ``ValueError`` with a sentence for whoever wrote it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeVar

from lakeguard.gate.durations import duration, is_duration
from lakeguard.registry.rows.cells import flag_of
from lakeguard.settings.addresses import problem_of_address
from lakeguard_sdk.cron import parse_cron
from lakeguard_sdk.cron_zones import zone_of
from lakeguard_sdk.errors import BadName
from lakeguard_sdk.event_patterns import pattern_problems
from lakeguard_sdk.names import DatasetName, check_word
from lakeguard_sdk.spelling import did_you_mean

Choice = TypeVar("Choice", bound=StrEnum)
Named = TypeVar("Named", bound=str)

MOST_NAMES = 100
LONGEST_TIMEOUT = 7 * 86_400
_NEVER = frozenset({"none", "manual", "adhoc", "ad_hoc", "ad-hoc", "on_demand", "on-demand"})
"""What other systems write where a job has no schedule."""
_CALL = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*\Z", re.ASCII)


def whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        number = int(text) if re.fullmatch(r"-?[0-9]{1,9}", text, re.ASCII) else None
        if number is None or not least <= number <= most:
            raise ValueError(f"write a number from {least:,} to {most:,}")
        return number

    return read


def seconds(text: str) -> int:
    """A length of time, as rules write them."""
    if not is_duration(text) or duration(text).total_seconds() > LONGEST_TIMEOUT:
        raise ValueError("write a time such as 90s, 15m or 2h, of at most 7d")
    return int(duration(text).total_seconds())


def choice(options: type[Choice]) -> Callable[[str], Choice]:
    def read(text: str) -> Choice:
        words = [option.value for option in options]
        if text not in words:
            hint = did_you_mean(text, words) or f"; write {' or '.join(words)}"
            raise ValueError(f"unknown word {text[:80]!r}{hint}")
        return options(text)

    return read


def words(text: str) -> tuple[str, ...]:
    return _names(text, check_word, "names in lower snake case")


def datasets(text: str) -> tuple[DatasetName, ...]:
    return _names(text, DatasetName, "datasets as layer.name")


def _names(text: str, read: Callable[[str], Named], form: str) -> tuple[Named, ...]:
    """Names with commas or blanks between them, each once, in the order of their letters."""
    said = text.replace(",", " ").split()
    try:
        names = sorted(map(read, said))
    except BadName as error:
        raise ValueError(f"{error.fields['name'][:80]!r} is not a name; write {form}") from None
    if not names or len(names) > MOST_NAMES:
        raise ValueError(f"write {form}, with commas between them, at most {MOST_NAMES}")
    if len(set(names)) < len(names):
        raise ValueError("a name stands twice")
    return tuple(names)


def schedule(text: str) -> str:
    """With one blank between its fields."""
    parse_cron(text)
    return " ".join(text.lower().split())


def frequency(text: str) -> str | None:
    """As ``schedule``; None where another system says that there is none."""
    return None if text.lower() in _NEVER else schedule(text)


def time_zone(text: str) -> str:
    return zone_of(text).key


def glob(text: str) -> str:
    """Files below the lake's root: nothing points out of it."""
    steps = text.split("/")
    if not text or "\\" in text or ":" in text or "" in steps or {".", ".."} & set(steps):
        raise ValueError("write a path below the lake's root, such as landing/*.csv")
    return text


def call(text: str) -> str:
    if not _CALL.match(text):
        raise ValueError("write package.module:function")
    return text


def address(text: str) -> str:
    """Encrypted, unless it stays on this machine."""
    if problem_of_address(text, allow_http=False):
        raise ValueError("write https://HOST/PATH; http:// is for this machine alone")
    return text


def pattern(text: str) -> dict[str, Any]:
    """What an event has to match, as JSON."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not found:
        raise ValueError('write a pattern as JSON, such as {"source": ["orders"]}')
    problems = pattern_problems(found)
    if problems:
        raise ValueError(problems[0])
    return found


def rule_pattern(text: str) -> dict[str, Any]:
    """Events of an EventBridge rule, by its name or its ARN; or a pattern."""
    said = text.strip()
    if said.startswith("{"):
        return pattern(said)
    if not said or not said.isprintable():
        raise ValueError("write the name of a rule, its ARN or a pattern")
    return {"resources": [said if said.startswith("arn:") else {"suffix": f"/{said}"}]}


def flag(text: str) -> bool:
    found = flag_of(text)
    if found is None:
        raise ValueError("write true or false")
    return found
