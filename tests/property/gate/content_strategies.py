"""Rules about what is inside of a value: texts of a kind, JSON, keys of maps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from lakeguard.gate.grammar.literals import Text
from lakeguard.gate.grammar.rule import Listed, Parameter
from lakeguard.gate.rule_types.texts import TEXT_KINDS

Made = st.SearchStrategy[dict[str, Any]]
_WORDS = st.text(st.sampled_from("abä'{\" "), min_size=1, max_size=4)
_SCHEMAS = ['{"type": "object"}', '{"const": "it\'s"}', '{"$ref": "#/$defs/a", "$defs": {"a": {}}}']
_LISTED = st.lists(_WORDS, min_size=1, max_size=3, unique=True)


def _listed(words: list[str]) -> Listed:
    return Listed(items=tuple(Text(value=word) for word in words))


def _word(name: str, known: list[str]) -> Made:
    values = st.sampled_from(known).map(lambda word: Text(value=word))
    return values.map(lambda value: {"parameters": (Parameter(name=name, value=value),)})


@st.composite
def _keys(draw: st.DrawFn) -> dict[str, Any]:
    required = draw(_LISTED)
    given = [
        Parameter(name="allowed", value=_listed([*required, "other"])),
        Parameter(name="required", value=_listed(required)),
    ]
    return {"parameters": tuple(draw(st.sampled_from([given, given[:1], given[1:]])))}


def content_makers(with_limits: Callable[[Made], Made]) -> dict[str, Made]:
    """By rule type, the fields of a rule that the grammar accepts."""
    return {
        "map_keys": with_limits(_keys()),
        "json_valid": with_limits(st.just({})),
        "json_keys": with_limits(_keys()),
        "json_schema": with_limits(_word("schema", _SCHEMAS)),
        "format": with_limits(_word("kind", list(TEXT_KINDS))),
        "case": with_limits(_word("letters", ["upper", "lower"])),
    }
