"""``mode STRICT``"""

from __future__ import annotations

from typing import ClassVar, Literal

from lakeguard.gate.grammar.cursor import Cursor
from lakeguard.gate.grammar.grammar_error import nearest
from lakeguard.gate.policy_types.policy_form import (
    FormReference,
    Needs,
    PolicyForm,
    PolicyInput,
    PolicyKind,
    PolicyResult,
)
from lakeguard.gate.policy_types.policy_tokens import expect_one_of
from lakeguard.gate.schema.messages import change_text
from lakeguard.gate.schema.profiles import breaches
from lakeguard_sdk.core.enums import PolicyType

SCHEMA_MODES = ("STRICT", "ADDITIVE", "BACKWARD", "FORWARD", "FULL")


class SchemaMode(PolicyForm):
    """How far a live schema may differ from the declared one; STRICT allows no difference."""

    needs: ClassVar[Needs] = Needs.SCHEMA
    policy: Literal["schema_mode"] = "schema_mode"
    mode: Literal["STRICT", "ADDITIVE", "BACKWARD", "FORWARD", "FULL"]

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        forbidden = breaches(self.mode, policy_input.facts.schema_differences)
        if forbidden:
            return PolicyResult(False, "; ".join(sorted(map(change_text, forbidden))))
        if policy_input.evidence is None:
            return PolicyResult(None, "no data was read")
        if self.mode == "STRICT":
            return PolicyResult(True, "the columns are exactly those declared")
        return PolicyResult(True, f"the columns differ no more than {self.mode} allows")

    def __str__(self) -> str:
        return f"mode {self.mode}"


def _read(cursor: Cursor) -> SchemaMode:
    expect_one_of(cursor, "mode", "mode")
    listed = ", ".join(SCHEMA_MODES)
    if cursor.token.kind != "word":
        raise cursor.error(f"a mode expected: {listed}")
    mode = cursor.token.value.upper()
    if mode not in SCHEMA_MODES:
        hint = nearest(cursor.token.value, SCHEMA_MODES)
        raise cursor.error(f"unknown mode; known modes are {listed}", hint=hint)
    cursor.advance()
    return SchemaMode.model_validate({"mode": mode})


SCHEMA = PolicyKind(
    type=PolicyType.SCHEMA,
    summary=(
        "How far the schema that a run finds may differ from the declared one; column order is "
        "ignored."
    ),
    read=_read,
    forms=(
        FormReference(
            form="mode STRICT|ADDITIVE|BACKWARD|FORWARD|FULL",
            example="mode STRICT",
            meaning=(
                "Schema differences that the profile of this name blocks are refused, "
                "whatever the dataset's own profile allows; see below."
            ),
            violated="the schema that a run finds differs in a way that the mode blocks.",
            judged=f"{Needs.SCHEMA}.",
        ),
    ),
)
