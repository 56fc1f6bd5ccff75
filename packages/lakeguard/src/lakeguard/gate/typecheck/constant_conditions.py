"""Detects conditions that are constant: no row makes them TRUE, or none makes them FALSE."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from lakeguard.gate.grammar.pattern import matches_everything, matches_nothing
from lakeguard.gate.grammar.syntax_tree import OPPOSITES
from lakeguard.gate.typecheck.intervals import ZERO, compare_intervals
from lakeguard.gate.typecheck.remaining_values import SIDES, remaining_values
from lakeguard.gate.typecheck.scalar_branches import branched
from lakeguard.gate.typecheck.simple_scalars import plain, same_value, strict_parts
from lakeguard.gate.typecheck.value_bounds import (
    difference,
    difference_interval,
    interval_of,
    step_of,
)
from lakeguard_sdk.expressions.conditions import (
    And,
    Arithmetic,
    Calculation,
    Call,
    Choice,
    Compare,
    Comparison,
    Condition,
    Function,
    InSet,
    IsNan,
    IsNull,
    Matches,
    Not,
    Or,
    Predicate,
    Scalar,
    Test,
    Value,
    type_of,
)
from lakeguard_sdk.types.schema import FLOATS

_MOST_CASES = 256
_DEEPEST_BRANCH = 3
"""Branches inside of conditions of branches are not followed further: each level triples them."""
_DIFFERS = (Comparison.NE, Comparison.LT, Comparison.GT)

Case = tuple[Condition, ...]
"""Conditions without And and Or that must all be TRUE."""


def settled(condition: Condition) -> bool | None:
    """The condition's value for every row that has values; None if it varies."""
    if never_true(condition):
        return False
    return True if never_true(_negated(condition)) else None


def never_true(condition: Condition) -> bool:
    """Whether no row makes the condition TRUE; False if that cannot be proved."""
    return all(_excluded(case) for case in _cases(condition))


def _cases(condition: Condition, depth: int = 0) -> list[Case]:
    """At least one is TRUE where the condition is; parts with too many cases are left out."""
    match condition:
        case Not(item=And() | Or() | Not() | Compare() as inner):
            return _cases(_negated(inner), depth)
        case Or(items=items):
            options = [case for item in items for case in _cases(item, depth)]
            return options if len(options) <= _MOST_CASES else [()]
        case And(items=items):
            found: list[Case] = [()]
            for item in items:
                parts = _cases(item, depth)
                if len(found) * len(parts) <= _MOST_CASES:
                    found = [(*case, *part) for case in found for part in parts]
            return found
    return _branch_cases(condition, depth)


def _branch_cases(condition: Condition, depth: int) -> list[Case]:
    """A condition without And and Or, beside each of its branches."""
    options = branched(condition) if depth < _DEEPEST_BRANCH else []
    if options in ([], [(condition,)]):
        return [(condition,)]
    found = [
        (condition, *case) for option in options for case in _cases(And(items=option), depth + 1)
    ]
    return found if len(found) <= _MOST_CASES else [(condition,)]


def _negated(condition: Condition) -> Condition:
    """NaN is greater than every number, so the negation of a comparison is a comparison."""
    match condition:
        case Compare(op=op):
            return condition.model_copy(update={"op": OPPOSITES[op]})
        case And(items=items):
            return Or(items=tuple(map(_negated, items)))
        case Or(items=items):
            return And(items=tuple(map(_negated, items)))
        case Not(item=item):
            return item
    return Not(item=condition)


def _excluded(case: Case) -> bool:
    """Whether the conditions are never TRUE together."""
    return (
        any(map(_is_false, case))
        or _contradict(case)
        or _null_and_present(case)
        or any(not sides for sides in _column_pairs(case).values())
        or any(values.is_empty for values in remaining_values(case))
    )


def _is_false(condition: Condition) -> bool:
    """Whether the condition alone is never TRUE."""
    match condition:
        case Compare(op=op, left=left, right=right):
            if same_value(left, right):
                return op in _DIFFERS
            return (
                compare_intervals(op, interval_of(left), interval_of(right)) is False
                or compare_intervals(op, difference_interval(left, right), ZERO) is False
                or (op is Comparison.EQ and _never_equal(left, right))
            )
        case InSet(of=of, values=values):
            reach = interval_of(of)
            return all(
                compare_intervals(Comparison.EQ, reach, interval_of(v)) is False for v in values
            )
        case IsNull(of=of):
            return _is_there(of)
        case IsNan(of=of):
            return _never_nan(of)
        case Matches(pattern=pattern):
            return matches_nothing(pattern)
        case Not(item=Matches(pattern=pattern)):
            return matches_everything(pattern)
        case Not(item=Test(predicate=Predicate.IS_FINITE, of=of)):
            return None not in interval_of(of)
    return False


def _never_equal(one: Scalar, other: Scalar) -> bool:
    """Whether exact numbers differ because of the steps that they go in, as ``2 * n`` and 3."""
    less = difference(one, other)
    return less is not None and less.is_never_zero(step_of)


def _is_there(node: Scalar) -> bool:
    """Whether the value is never NULL."""
    match node:
        case Value():
            return True
        case Choice(then=then, otherwise=otherwise):
            return _is_there(then) and _is_there(otherwise)
        case Call(function=Function.COALESCE, arguments=arguments):
            return any(map(_is_there, arguments))
    return False


def _never_nan(node: Scalar) -> bool:
    """Whether the value has an upper bound or is computed from exact numbers: NaN is above all."""
    if interval_of(node).high is not None:
        return True
    match node:
        case Call(function=Function.DOUBLE, arguments=(of,)):
            return type_of(of) not in FLOATS
        case Calculation(op=Arithmetic.DIVIDE, left=left, right=right):
            return not {type_of(left), type_of(right)} & set(FLOATS)
    return False


def divides_by_zero(node: Calculation) -> bool:
    """Whether the divisor is the literal 0."""
    divides = node.op in (Arithmetic.DIVIDE, Arithmetic.REMAINDER)
    return divides and isinstance(node.right, Value) and Decimal(node.right.text) == 0


def _contradict(case: Case) -> bool:
    """Whether a condition and its negation are both required."""
    refused = {item.item for item in case if isinstance(item, Not)}
    return not refused.isdisjoint(case)


def _null_and_present(case: Case) -> bool:
    """Whether a value must be NULL beside a condition that needs it."""
    missing = {item.of for item in case if isinstance(item, IsNull)}
    if not missing:
        return False
    return any(missing & set(strict_parts(of)) for item in case for of in _needed(item))


def _needed(condition: Condition) -> Iterator[Scalar]:
    """Scalars that must not be NULL if the condition is TRUE."""
    match condition:
        case Compare(left=left, right=right):
            yield from (left, right)
        case InSet(of=of) | IsNan(of=of) | Matches(of=of) | Test(of=of):
            yield of
        case Not(item=IsNull(of=of)):
            yield of
        case Not(item=InSet() | IsNan() | Matches() | Test() as item):
            yield from _needed(item)


def _column_pairs(case: Case) -> dict[tuple[Scalar, Scalar], set[int]]:
    """On which side of each other two values of the row may still be."""
    found: dict[tuple[Scalar, Scalar], set[int]] = {}
    for item in case:
        if not isinstance(item, Compare) or isinstance(item.right, Value):
            continue
        left, right = plain(item.left), plain(item.right)
        if (right, left) in found:
            found[right, left] &= {-side for side in SIDES[item.op]}
        else:
            found.setdefault((left, right), {-1, 0, 1}).intersection_update(SIDES[item.op])
    return found
