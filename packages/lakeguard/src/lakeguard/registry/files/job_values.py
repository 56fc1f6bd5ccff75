"""Single values of a job's settings: what each may say, and what is wrong with one that may not.

Every reader answers the value, or raises ``ValueError`` with a sentence for whoever wrote it.
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

MOST_NAMES = 100
LONGEST_TIMEOUT = 7 * 86_400
_NEVER = frozenset({"none", "manual", "adhoc", "ad_hoc", "ad-hoc", "on_demand", "on-demand"})
"""What other systems write where a job has no schedule."""
_OF_THE_MACHINE = frozenset({"localtime", "posixrules", "Factory"})
_MARKERS = ("_", ".")
"""Files whose names begin so are of other tools, and start nothing."""
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
    """A zone that is the same on every machine."""
    if text in _OF_THE_MACHINE:
        raise ValueError(f"{text} is another zone on each machine; write one such as Europe/Berlin")
    try:
        return zone_of(text).key
    except ValueError as error:
        near = did_you_mean(text, available_timezones() - _OF_THE_MACHINE)
        raise ValueError(f"{error}{near}") from None


def glob(text: str) -> str:
    """Files below the lake's root: nothing points out of it."""
    steps = text.split("/")
    if not text or "\\" in text or ":" in text or "" in steps or {".", ".."} & set(steps):
        raise ValueError("write a path below the lake's root, such as landing/*.csv")
    problem = _pattern_problem(steps)
    if problem:
        raise ValueError(problem)
    return text


def _pattern_problem(steps: list[str]) -> str:
    """Why a pattern finds other files than it seems to, or none at all."""
    if not all(map(str.isprintable, steps)):
        return "write it on one line"
    if any("**" in step and step != "**" for step in steps):
        return "** stands for folders, between slashes, as in landing/**/*.csv"
    if any(re.search(r"\[(?!!?\]?[^\]]*\])", step) for step in steps):
        return "a [ is not closed"
    if any(re.search(r"\{[^{}]*,[^{}]*\}", step) for step in steps):
        return "braces stand for themselves here; write a job for each, or use * and [abc]"
    if steps[-1].startswith(_MARKERS):
        return "files whose names begin with _ or . start nothing"
    return ""


def call(text: str) -> str:
    if not _CALL.match(text):
        raise ValueError("write package.module:function")
    reserved = next((word for word in re.split("[.:]", text) if iskeyword(word)), None)
    if reserved:
        raise ValueError(f"{reserved} is a word of Python itself, and no name")
    return text


def address(text: str) -> str:
    """Encrypted, unless it stays on this machine."""
    if problem_of_address(text, allow_http=False):
        raise ValueError("write https://HOST/PATH; http:// is for this machine alone")
    return text


def pattern(text: str) -> dict[str, Any]:
    """What an event has to match, as JSON."""
    try:
        found = json.loads(text, object_pairs_hook=_each_key_once, parse_constant=_no_number)
    except _Unclear:
        raise
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not found:
        raise ValueError('write a pattern as JSON, such as {"source": ["orders"]}')
    problems = pattern_problems(found)
    if problems:
        raise ValueError(problems[0])
    return found


class _Unclear(ValueError):
    """JSON that is read, and not as it was meant."""


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise _Unclear(f"{twice[:80]!r} stands twice; write its values in one list")
    return found


def _no_number(text: str) -> Any:
    raise _Unclear(f"{text} is no number")


def name_elsewhere(text: str) -> str:
    """Whatever another system calls a thing."""
    if not text:
        raise ValueError("write a name")
    return text


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
