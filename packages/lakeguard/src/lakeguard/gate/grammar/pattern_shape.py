"""The structure of a pattern, and whether every engine can match it in bounded time.

Spark's engine backtracks: repeated choices that start alike can take hours on a short text or
overflow the stack. Such patterns are refused, with advice on an equivalent without the ambiguity.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass


class PatternError(Exception):
    """The pattern is refused; the message names the construct and the alternative."""


class EmptyPattern(PatternError):
    """The pattern is empty."""


class Anchored(PatternError):
    """The pattern contains an anchor; ``what`` must be removed."""

    def __init__(self, message: str, what: str) -> None:
        super().__init__(message)
        self.what = what


Span = tuple[tuple[int, int], ...]
"""A set of characters, as ranges of code points."""

_LAST = 0x10FFFF
DIGITS: Span = ((0x30, 0x39),)
WORD: Span = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
SEPARATORS: Span = (
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
)


_LARGEST = 5000
_MOST_REPEATS = 1000
_PLANE = 0xFFFF
_LONG_BITS = 7.0
_MOST_BITS = 14.0
_DEEPEST_LOOP = 100


@dataclass(frozen=True)
class Characters:
    span: Span


@dataclass(frozen=True)
class Sequence:
    items: tuple[PatternNode, ...]


@dataclass(frozen=True)
class Alternatives:
    options: tuple[PatternNode, ...]


@dataclass(frozen=True)
class Repeated:
    """``high`` is None if unbounded."""

    item: PatternNode
    low: int
    high: int | None


PatternNode = Characters | Sequence | Alternatives | Repeated


def inverted(span: Span) -> Span:
    found, start = [], 0
    for low, high in sorted(span):
        if low > start:
            found.append((start, low - 1))
        start = max(start, high + 1)
    if start <= _LAST:
        found.append((start, _LAST))
    return tuple(found)


def check_shape(node: PatternNode) -> None:
    """Raises PatternError for a pattern that some engine cannot match in bounded time and space."""
    if _size(node) > _LARGEST:
        raise PatternError(f"the counts expand to more than {_LARGEST:,} characters")
    if _repeats(node) > _MOST_REPEATS:
        raise PatternError(f"nested counts multiply to more than {_MOST_REPEATS:,}")
    if _bits(node, ()) > _MOST_BITS:
        raise PatternError(
            "too many parts that can end in more than one place: end each part with a "
            "character that it cannot contain, as in [^,]*,"
        )


def _size(node: PatternNode) -> int:
    """Number of characters with every count expanded; nested counts multiply."""
    match node:
        case Characters():
            return 1
        case Sequence(items=items) | Alternatives(options=items):
            return sum(_size(item) for item in items)
        case Repeated(item=item, low=low, high=high):
            return _size(item) * max(low, high or 1)


def _repeats(node: PatternNode) -> int:
    """The largest product of nested counts."""
    match node:
        case Characters():
            return 1
        case Sequence(items=items) | Alternatives(options=items):
            return max((_repeats(item) for item in items), default=1)
        case Repeated(item=item, low=low, high=high):
            return _repeats(item) * max(low, high or 1)


def nullable(node: PatternNode) -> bool:
    match node:
        case Characters():
            return False
        case Sequence(items=items):
            return all(nullable(item) for item in items)
        case Alternatives(options=options):
            return any(nullable(option) for option in options)
        case Repeated(item=item, low=low):
            return low == 0 or nullable(item)


def _first(node: PatternNode) -> Span:
    """The characters that a match can start with."""
    match node:
        case Characters(span=span):
            return span
        case Sequence(items=items):
            return _first_of(items, ())
        case Alternatives(options=options):
            return sum((_first(option) for option in options), ())
        case Repeated(item=item):
            return _first(item)


def _first_of(items: tuple[PatternNode, ...], after: Span) -> Span:
    found: Span = ()
    for item in items:
        found += _first(item)
        if not nullable(item):
            return found
    return found + after


def _bits(node: PatternNode, after: Span) -> float:
    """Upper bound of backtracking, as a power of two; ``after`` is what follows."""
    match node:
        case Characters():
            return 0
        case Sequence(items=items):
            rest = (items[index + 1 :] for index in range(len(items)))
            return sum(
                _bits(item, _first_of(later, after))
                for item, later in zip(items, rest, strict=True)
            )
        case Alternatives(options=options):
            most = max(_bits(option, after) for option in options)
            return most + (math.log2(len(options)) if _start_alike(options, after) else 0)
        case Repeated():
            return _loop_bits(node, after)


def _loop_bits(loop: Repeated, after: Span) -> float:
    inner = _first(loop.item)
    exits = 0.0
    if loop.high != loop.low and _overlap(inner, after):
        steps = _LONG_BITS if loop.high is None else math.log2(loop.high - loop.low + 1)
        exits = min(_LONG_BITS, steps)
    if isinstance(loop.item, Characters):
        return exits
    body = _bits(loop.item, inner + after if loop.high != 1 else after)
    if loop.high == 1:
        return exits + body
    if nullable(loop.item):
        raise PatternError("the repeated part can be empty: make it match at least one character")
    if loop.high is None and body:
        raise PatternError(
            "a quantifier inside a repeated group that can end in more than one place takes "
            "exponential time: remove the inner or the outer one"
        )
    if not _plain(loop.item) and (loop.high is None or loop.high > _DEEPEST_LOOP):
        raise PatternError(
            "a repeated group with alternatives or quantifiers overflows Spark's stack on "
            "long texts: use a class, as [ab]* for (a|b)*, or a limit, as "
            f"{{0,{_DEEPEST_LOOP}}}"
        )
    return exits + body * (loop.high or 1)


def _plain(node: PatternNode) -> bool:
    """Whether every match has the same length, in UTF-16 too, without alternatives."""
    match node:
        case Characters(span=span):
            return all(high <= _PLANE for _, high in span) or all(low > _PLANE for low, _ in span)
        case Sequence(items=items):
            return all(_plain(item) for item in items)
        case Alternatives():
            return False
        case Repeated(item=item, low=low, high=high):
            return low == high and _plain(item)


def _start_alike(options: tuple[PatternNode, ...], after: Span) -> bool:
    firsts = [_first(option) + (after if nullable(option) else ()) for option in options]
    return any(
        _overlap(one, other) for index, one in enumerate(firsts) for other in firsts[index + 1 :]
    )


def _overlap(one: Span, other: Span) -> bool:
    return any(a[0] <= b[1] and b[0] <= a[1] for a in one for b in other)


# Which texts a pattern matches: one that matches every text, or none, checks nothing.

_SURROGATES = range(0xD800, 0xE000)
"""Code points that occur in no text."""
_END = 0x110000
_MOST_STEPS = 20_000
_ANY: Span = ((0, _LAST),)

State = tuple[PatternNode, ...]
"""What must still match, in sequence."""
States = frozenset[State]


def is_universal(node: PatternNode) -> bool:
    """Whether the pattern matches every text; False if that takes too long to prove."""
    return includes(node, Repeated(Characters(_ANY), 0, None))


def includes(node: PatternNode, other: PatternNode) -> bool:
    """Whether the pattern matches every text that the other one matches; False if that takes too
    long to prove."""
    characters = list(_representatives(Sequence((node, other))))
    start: tuple[States, States] = (frozenset({(node,)}), frozenset({(other,)}))
    seen, waiting, steps = {start}, [start], 0
    while waiting:
        own, others = waiting.pop()
        if any(map(_matches_all, own)):
            continue
        if any(map(_may_end, others)) and not any(map(_may_end, own)):
            return False
        for character in characters:
            after = _after_each(own, character), _after_each(others, character)
            steps += len(own) + len(others)
            if after[1] and after not in seen:
                seen.add(after)
                waiting.append(after)
        if steps > _MOST_STEPS:
            return False
    return True


def _after_each(states: States, character: int) -> States:
    return frozenset(left for state in states for left in _after(state, character))


def _may_end(state: State) -> bool:
    return all(map(nullable, state))


def _matches_all(state: State) -> bool:
    """Whether one part matches every text and the others may be empty; False if unknown."""
    return _may_end(state) and any(map(_is_any_text, state))


def _is_any_text(node: PatternNode) -> bool:
    match node:
        case Characters():
            return False
        case Sequence(items=items):
            return _matches_all(items)
        case Alternatives(options=options):
            return any(map(_is_any_text, options))
        case Repeated(item=Characters(span=span), low=0, high=None):
            return is_empty(Characters(inverted(span)))
        case Repeated(item=item):
            return _is_any_text(item)


def is_empty(node: PatternNode) -> bool:
    """Whether the pattern matches no text at all."""
    match node:
        case Characters(span=span):
            return all(low in _SURROGATES and high in _SURROGATES for low, high in span)
        case Sequence(items=items):
            return any(map(is_empty, items))
        case Alternatives(options=options):
            return all(map(is_empty, options))
        case Repeated(item=item, low=low):
            return low > 0 and is_empty(item)


def _after(state: State, character: int) -> Iterator[State]:
    """What is left to match after one character."""
    if not state:
        return
    first, rest = state[0], state[1:]
    match first:
        case Characters(span=span):
            if _holds(span, character):
                yield rest
        case Sequence(items=items):
            yield from _after((*items, *rest), character)
        case Alternatives(options=options):
            for option in options:
                yield from _after((option, *rest), character)
        case Repeated(item=item, low=low, high=high):
            more = Repeated(item, max(low - 1, 0), None if high is None else high - 1)
            again = () if more.high == 0 else (more,)
            yield from _after((item, *again, *rest), character)
            if low == 0:
                yield from _after(rest, character)


def _holds(span: Span, character: int) -> bool:
    return any(low <= character <= high for low, high in span)


def _representatives(node: PatternNode) -> Iterator[int]:
    """One character of every set of characters that the pattern does not tell apart."""
    ends = {0, _SURROGATES.start, _SURROGATES.stop, _END}
    ends.update(end for low, high in _spans(node) for end in (low, high + 1))
    yield from (start for start in sorted(ends) if start not in _SURROGATES and start < _END)


def _spans(node: PatternNode) -> Iterator[tuple[int, int]]:
    match node:
        case Characters(span=span):
            yield from span
        case Sequence(items=items) | Alternatives(options=items):
            for item in items:
                yield from _spans(item)
        case Repeated(item=item):
            yield from _spans(item)
