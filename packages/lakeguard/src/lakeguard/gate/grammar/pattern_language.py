"""Which texts a pattern matches: patterns that match every text, or none, check nothing."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.gate.grammar.pattern_shape import (
    Alternatives,
    Characters,
    PatternNode,
    Repeated,
    Sequence,
    Span,
    nullable,
)

_SURROGATES = range(0xD800, 0xE000)
"""Code points that occur in no text."""
_END = 0x110000
_MOST_STATES = 200

State = tuple[PatternNode, ...]
"""What must still match, in sequence."""


def is_universal(node: PatternNode) -> bool:
    """Whether the pattern matches every text; False if that takes too long to prove."""
    characters = list(_representatives(node))
    start: frozenset[State] = frozenset({(node,)})
    seen, waiting = {start}, [start]
    while waiting:
        states = waiting.pop()
        if not any(all(map(nullable, state)) for state in states):
            return False
        for character in characters:
            after = frozenset(left for state in states for left in _after(state, character))
            if after not in seen:
                seen.add(after)
                waiting.append(after)
        if len(seen) > _MOST_STATES:
            return False
    return True


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
