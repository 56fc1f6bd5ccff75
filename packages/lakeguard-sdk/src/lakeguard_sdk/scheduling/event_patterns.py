"""Event patterns in the syntax of EventBridge.

    {"source": ["shop.orders"],
     "detail": {"state": ["paid", {"prefix": "part"}], "sum": [{"numeric": [">", 0, "<=", 100]}]},
     "$or": [{"region": ["eu"]}, {"detail": {"test": [{"exists": false}]}}]}

All keys must match; a list matches if any of its entries does, and a field that is a list matches
if any of its values does. Unknown operators are errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

OR = "$or"
DEEPEST = 20
MOST_ENTRIES = 1_000
_MISSING = object()
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda value, bound: value == bound,
    "<": lambda value, bound: value < bound,
    "<=": lambda value, bound: value <= bound,
    ">": lambda value, bound: value > bound,
    ">=": lambda value, bound: value >= bound,
}


def matches(pattern: Mapping[str, Any], event: Mapping[str, Any]) -> bool:
    """Whether the event matches a valid pattern."""
    for key, wanted in pattern.items():
        if key == OR:
            if not any(matches(choice, event) for choice in wanted):
                return False
        elif not _field_matches(wanted, event.get(key, _MISSING)):
            return False
    return True


def pattern_problems(pattern: Any) -> list[str]:
    """Errors in a pattern; empty if it is valid."""
    problems: list[str] = []
    entries = _check(pattern, "", 0, problems)
    if entries > MOST_ENTRIES:
        problems.append(f"the pattern has more than {MOST_ENTRIES:,} entries")
    return problems


def _field_matches(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, Mapping):
        if isinstance(value, list):
            return any(isinstance(item, Mapping) and matches(wanted, item) for item in value)
        inner = {} if value is _MISSING else value
        return isinstance(inner, Mapping) and matches(wanted, inner)
    return any(_entry_matches(entry, value) for entry in wanted)


def _entry_matches(entry: Any, value: Any) -> bool:
    if isinstance(entry, Mapping) and "exists" in entry:
        return (value is not _MISSING) is entry["exists"]
    if value is _MISSING:
        return False
    if isinstance(value, list):
        return any(_value_matches(entry, item) for item in value)
    return _value_matches(entry, value)


def _value_matches(entry: Any, value: Any) -> bool:
    if not isinstance(entry, Mapping):
        return _is_same(entry, value)
    ((operator, operand),) = entry.items()
    return _OPERATORS[operator][1](operand, value)


def _is_same(left: Any, right: Any) -> bool:
    """Equality of JSON: true differs from 1, and 1 equals 1.0."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | Decimal)


def _starts(operand: str, value: Any) -> bool:
    return isinstance(value, str) and value.startswith(operand)


def _ends(operand: str, value: Any) -> bool:
    return isinstance(value, str) and value.endswith(operand)


def _same_letters(operand: str, value: Any) -> bool:
    return isinstance(value, str) and value.casefold() == operand.casefold()


def _in_range(operand: list[Any], value: Any) -> bool:
    if not _is_number(value):
        return False
    pairs = zip(operand[::2], operand[1::2], strict=True)
    return all(_COMPARED[sign](value, bound) for sign, bound in pairs)


def _is_other(operand: Any, value: Any) -> bool:
    if isinstance(operand, Mapping):
        return not _value_matches(operand, value)
    left_out = operand if isinstance(operand, list) else [operand]
    return not any(_is_same(item, value) for item in left_out)


def _text_problem(operand: Any) -> str | None:
    return None if isinstance(operand, str) and operand else "needs a text"


def _exists_problem(operand: Any) -> str | None:
    return None if isinstance(operand, bool) else "needs true or false"


def _numeric_problem(operand: Any) -> str | None:
    if isinstance(operand, list) and len(operand) in (2, 4):
        signs, bounds = operand[::2], operand[1::2]
        if all(sign in _COMPARED for sign in signs) and all(map(_is_number, bounds)):
            return None
    return 'needs one or two bounds, such as [">", 0, "<=", 100]'


def _other_problem(operand: Any) -> str | None:
    if isinstance(operand, Mapping):
        if len(operand) == 1 and next(iter(operand)) in ("prefix", "suffix"):
            return _text_problem(next(iter(operand.values())))
    elif isinstance(operand, list):
        if operand and all(map(_is_plain, operand)):
            return None
    elif _is_plain(operand):
        return None
    return "needs a value, a list of values, or a prefix or suffix"


_OPERATORS: dict[str, tuple[Callable[[Any], str | None], Callable[[Any, Any], bool]]] = {
    "prefix": (_text_problem, _starts),
    "suffix": (_text_problem, _ends),
    "equals-ignore-case": (_text_problem, _same_letters),
    "numeric": (_numeric_problem, _in_range),
    "anything-but": (_other_problem, _is_other),
    "exists": (_exists_problem, lambda operand, _value: bool(operand)),
}


def _check(pattern: Any, path: str, depth: int, problems: list[str]) -> int:
    """Adds errors below ``path``; returns the number of entries."""
    if not isinstance(pattern, Mapping) or not pattern:
        problems.append(f"{path or 'the pattern'} needs keys with values to match")
        return 0
    if depth > DEEPEST:
        problems.append(f"{path} is nested more than {DEEPEST} levels deep")
        return 0
    entries = 0
    for key, wanted in pattern.items():
        here = f"{path}.{key}" if path else str(key)
        if key == OR:
            entries += _check_choices(wanted, here, depth, problems)
        elif isinstance(wanted, Mapping):
            entries += _check(wanted, here, depth + 1, problems)
        else:
            entries += _check_entries(wanted, here, problems)
    return entries


def _check_choices(wanted: Any, path: str, depth: int, problems: list[str]) -> int:
    if not isinstance(wanted, list) or len(wanted) < 2:
        problems.append(f"{path} needs a list of two patterns or more")
        return 0
    return sum(_check(choice, path, depth + 1, problems) for choice in wanted)


def _check_entries(wanted: Any, path: str, problems: list[str]) -> int:
    if not isinstance(wanted, list) or not wanted:
        problems.append(f"{path} needs a list of values, as in [1] or ['a']")
        return 0
    for entry in wanted:
        problem = _entry_problem(entry)
        if problem is not None:
            problems.append(f"{path}: {problem}")
    return len(wanted)


def _entry_problem(entry: Any) -> str | None:
    if _is_plain(entry):
        return None
    if not isinstance(entry, Mapping) or len(entry) != 1:
        return "an entry is a value, or one operator with what it takes"
    ((operator, operand),) = entry.items()
    if operator not in _OPERATORS:
        return f"{operator!r:.40} is no operator ({', '.join(_OPERATORS)})"
    problem = _OPERATORS[operator][0](operand)
    return None if problem is None else f"{operator} {problem}"
