"""Decisions from before differences had classes are read, and say what they said."""

from __future__ import annotations

import pytest

from lakeguard.gate.schema_guarantees import breaches
from lakeguard.gate.schema_wording import REACTION_WORDS, change_text
from lakeguard_sdk.run import SchemaReaction, SchemaVerdict

OLD = {
    '{"change":"added","column":"x","declared":null,"found":"string","reaction":"LEFT_OUT"}': (
        "column x (string) is not declared: left out"
    ),
    '{"change":"missing","column":"x","declared":"date","found":null,"reaction":"BLOCK"}': (
        "column x (date) is missing: not accepted"
    ),
    '{"change":"type","column":"x","declared":"long","found":"integer","reaction":"CAST"}': (
        "column x is integer, declared long: cast without loss"
    ),
}


@pytest.mark.parametrize(("text", "said"), OLD.items())
def test_an_old_difference_reads_back_as_it_was(text: str, said: str) -> None:
    item = SchemaReaction.from_json(text)
    assert item.to_json() == text
    assert f"{change_text(item)}: {REACTION_WORDS[item.reaction]}" == said
    assert breaches("STRICT", (item,)) == (item,)


def test_an_old_verdict_changes_no_plan() -> None:
    verdict = SchemaVerdict.from_json('{"accepted":true,"differences":[],"result":null}')
    assert verdict.declared is None
    assert verdict.to_json() == '{"accepted":true,"differences":[],"result":null}'
