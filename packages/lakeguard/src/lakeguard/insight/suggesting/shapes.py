"""From the patterns of texts to one regular expression that all of them match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

_CLASSES = {"A": "[A-Z]", "a": "[a-z]", "9": "[0-9]"}
_PLAIN = frozenset(" _:/,@#%&=;<>~\"'!-")
_SHAPES = 3
_LONGEST_RUN = 50
_LONGEST_TEXT = 100


@dataclass(frozen=True)
class Part:
    """A kind of character, and how often it comes in a row."""

    sign: str
    least: int
    most: int

    @property
    def pattern(self) -> str:
        one = _CLASSES.get(self.sign) or self._literal()
        if self.least == self.most:
            return one if self.least == 1 else f"{one}{{{self.least}}}"
        if (self.least, self.most) == (0, 1):
            return f"{one}?"
        return f"{one}{{{self.least},{self.most}}}"

    def _literal(self) -> str:
        return self.sign if self.sign in _PLAIN else f"\\x{ord(self.sign):02X}"


def shape_of(patterns: Sequence[str]) -> str | None:
    """None where they have no shape in common, or one that says little: words of any length."""
    if not patterns or not all(_is_plain(pattern) for pattern in patterns):
        return None
    shapes: list[tuple[Part, ...]] = []
    for pattern in sorted(patterns, key=lambda text: (-len(text), text)):
        runs = [(sign, len(list(group))) for sign, group in groupby(pattern)]
        _take(shapes, tuple(Part(sign, count, count) for sign, count in runs))
    if len(shapes) > _SHAPES or any(_says_little(shape) for shape in shapes):
        return None
    texts = ["".join(part.pattern for part in shape) for shape in shapes]
    return texts[0] if len(texts) == 1 else f"(?:{'|'.join(texts)})"


def _is_plain(pattern: str) -> bool:
    return 0 < len(pattern) <= _LONGEST_TEXT and pattern.isascii() and pattern.isprintable()


def _take(shapes: list[tuple[Part, ...]], new: tuple[Part, ...]) -> None:
    """Widens the first shape that begins like it, or that it begins like; else it is one more."""
    for at, shape in enumerate(shapes):
        pairs = list(zip(shape, new, strict=False))
        if all(one.sign == other.sign for one, other in pairs):
            shapes[at] = tuple(
                _either(one, other) for one, other in zip_longest(shape, new, fillvalue=None)
            )
            return
    shapes.append(new)


def _either(one: Part | None, other: Part | None) -> Part:
    """What lets both pass; where one of them has ended, nothing passes too."""
    if one is None or other is None:
        present = one or other
        assert present is not None  # noqa: S101 - a promise to the type checker
        return Part(present.sign, 0, present.most)
    return Part(one.sign, min(one.least, other.least), max(one.most, other.most))


def _says_little(shape: tuple[Part, ...]) -> bool:
    words = any(part.least < part.most for part in shape)
    letters = all(part.sign in "aA" for part in shape) and (words or len(shape) > 1)
    return letters or any(part.most > _LONGEST_RUN for part in shape)
