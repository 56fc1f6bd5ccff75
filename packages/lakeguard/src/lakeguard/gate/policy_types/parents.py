"""``parents required``, ``parents forbidden``, ``parents from silver``, ``inputs known``"""

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
from lakeguard.gate.policy_types.policy_tokens import expect_list, expect_one_of
from lakeguard_sdk.core.enums import Layer, PolicyType


class Parents(PolicyForm):
    """Whether a dataset must or must not be built from others."""

    policy: Literal["parents"] = "parents"
    must: Literal["required", "forbidden"]

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        parents = policy_input.subject.parents
        message = f"built from {', '.join(parents)}" if parents else "built from no dataset"
        return PolicyResult(bool(parents) == (self.must == "required"), message)

    def __str__(self) -> str:
        return f"parents {self.must}"


class ParentsFrom(PolicyForm):
    """There are parents, and all of them are in the given layers."""

    policy: Literal["parents_from"] = "parents_from"
    layers: tuple[Layer, ...]

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        parents, listed = policy_input.subject.parents, " or ".join(self.layers)
        if not parents:
            return PolicyResult(False, f"built from no dataset, but needs one in {listed}")
        others = [parent for parent in parents if parent.layer not in self.layers]
        if others:
            return PolicyResult(False, f"built from {', '.join(others)}, which is not {listed}")
        return PolicyResult(True, f"built from {listed} only")

    def __str__(self) -> str:
        names = ", ".join(self.layers)
        return f"parents from {names if len(self.layers) == 1 else f'[{names}]'}"


class InputsKnown(PolicyForm):
    """Everything that the rows are made of is a version of a dataset or a declared source."""

    needs: ClassVar[Needs] = Needs.EVIDENCE
    policy: Literal["inputs_known"] = "inputs_known"

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        outside = policy_input.subject.outside
        if outside is None:
            return PolicyResult(True, "read from declared inputs")
        if outside:
            return PolicyResult(False, f"unknown input: {', '.join(outside)}")
        return PolicyResult(True, "every input is a version of a dataset")

    def __str__(self) -> str:
        return "inputs known"


def _read(cursor: Cursor) -> PolicyForm:
    first = expect_one_of(cursor, "parents or inputs", "parents", "inputs")
    if first == "inputs":
        expect_one_of(cursor, "known", "known")
        return InputsKnown()
    wanted = "required, forbidden or from <layer>"
    word = expect_one_of(cursor, wanted, "required", "forbidden", "from")
    if word != "from":
        return Parents.model_validate({"must": word})
    start = cursor.token
    if cursor.at_mark("["):
        named = expect_list(cursor, "a layer")
    else:
        named = (expect_one_of(cursor, "a layer (bronze, silver, gold)", *Layer),)
    for name in named:
        if name.lower() not in Layer.__members__.values():
            hint = nearest(name, Layer)
            raise cursor.refuse(start, "layers are bronze, silver and gold", hint=hint)
    layers = sorted({Layer(name.lower()) for name in named}, key=lambda layer: layer.height)
    return ParentsFrom(layers=tuple(layers))


LINEAGE_PARENT = PolicyKind(
    type=PolicyType.LINEAGE_PARENT,
    summary="What a dataset is built from.",
    read=_read,
    forms=(
        FormReference(
            form="parents required",
            example="parents required",
            meaning="The dataset is built from another.",
            violated="it declares no parent.",
        ),
        FormReference(
            form="parents forbidden",
            example="parents forbidden",
            meaning="The dataset is built from a source or a frame, not from other datasets.",
            violated="it declares a parent.",
        ),
        FormReference(
            form="parents from <layer>, or parents from [<layer>, …]",
            example="parents from silver",
            meaning="There is a parent, and every parent is in one of these layers.",
            violated="a parent is in another layer, or there is none.",
        ),
        FormReference(
            form="inputs known",
            example="inputs known",
            meaning=(
                "Everything that the rows are made of is a version of a dataset, or the declared "
                "source. Rows that a program or a Python build creates, files that it reads by "
                "itself, and the rows of an adopted table are unknown inputs."
            ),
            violated=(
                "the plan of a published frame or of a Python build shows something else, or rows "
                "of the table were adopted."
            ),
            judged=f"{Needs.EVIDENCE}.",
        ),
    ),
)
