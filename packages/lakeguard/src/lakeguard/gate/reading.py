"""A rule together with the text it was read from, so that a refusal can point at its cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakeguard.gate.grammar_error import ErrorKind, GrammarError, Span
from lakeguard.gate.rule import Rule


@dataclass(frozen=True)
class ReadRule:
    """``spans`` names the parts: ``type``, ``column 0``, ``parameter min``, ``values 2`` (the third
    of that list), ``where 3`` (the fourth operand of the condition), ``warn_if``, ``scope``."""

    rule: Rule
    text: str
    spans: Mapping[str, Span]
    fresh: bool = False
    """Whether it is only now being said, so that what says nothing is refused. One that is stored
    keeps the meaning that it had."""

    def error(
        self, part: str, message: str, *, kind: ErrorKind = "meaning", hint: str = ""
    ) -> GrammarError:
        """The refusal of one part; of the whole rule where the part is not written out."""
        span = self.spans.get(part) or self.spans["type"]
        word = self.text[span.offset : span.offset + span.length].strip("`'")
        return GrammarError(message, span, kind=kind, hint=hint, word=word)
