"""``columns match '[a-z][a-z0-9_]*'``, ``dataset match '…'``"""

from __future__ import annotations

import re
from typing import Literal

from lakeguard.gate.cursor import Cursor
from lakeguard.gate.policy_form import FormReference, Judged, Look, PolicyForm, PolicyKind
from lakeguard.gate.policy_tokens import expect_one_of, expect_pattern, quoted
from lakeguard_sdk.words import PolicyType


class NamesMatch(PolicyForm):
    """The whole of every name matches."""

    policy: Literal["names_match"] = "names_match"
    of: Literal["columns", "dataset"]
    pattern: str

    def judge(self, look: Look) -> Judged:
        names = look.facts.declared.names if self.of == "columns" else (look.facts.dataset.name,)
        odd = [name for name in names if re.fullmatch(self.pattern, name, re.ASCII) is None]
        if odd:
            return Judged(False, f"{', '.join(odd)} does not match {quoted(self.pattern)}")
        return Judged(True, f"every name of {self.of} matches")

    def __str__(self) -> str:
        return f"{self.of} match {quoted(self.pattern)}"


def _read(cursor: Cursor) -> NamesMatch:
    word = expect_one_of(cursor, "columns match '…' or dataset match '…'", "columns", "dataset")
    expect_one_of(cursor, "match", "match")
    place = cursor.token
    pattern = expect_pattern(cursor, "the pattern matches the whole name")
    if "\\p{" in pattern or "\\x{" in pattern:
        raise cursor.refuse(place, "a pattern of names is written in plain characters")
    return NamesMatch.model_validate({"of": word, "pattern": pattern})


NAMING = PolicyKind(
    type=PolicyType.NAMING,
    summary="What names look like.",
    read=_read,
    forms=(
        FormReference(
            form="columns match '<pattern>'",
            example="columns match '[a-z][a-z0-9_]*'",
            says=(
                "The whole name of every column of the table matches the "
                "[pattern](rules.md#patterns)."
            ),
            violated="a name does not match.",
        ),
        FormReference(
            form="dataset match '<pattern>'",
            example="dataset match '(dim|fact)_[a-z0-9_]+'",
            says="The whole name of the dataset, without its layer, matches the pattern.",
            violated="it does not match.",
        ),
    ),
)
