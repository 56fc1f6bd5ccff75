"""Registry plans: the list of steps that ``plan`` shows and ``apply`` executes."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.errors import PlanChanged
from lakeguard_sdk.model.definitions import Definition


class Change(FrozenModel):
    """One changed field, for display."""

    field: str
    before: str | None
    after: str | None


class Register(FrozenModel):
    """Registers a new definition."""

    step: Literal["register"] = "register"
    definition: Definition


class Revise(FrozenModel):
    """Changes a registered definition, possibly under a new name.

    ``revision`` is the one that the step supersedes, as a precondition.
    """

    step: Literal["revise"] = "revise"
    key: str
    """Registry key, independent of the name."""
    revision: int
    definition: Definition
    changes: tuple[Change, ...]


Step = Annotated[Register | Revise, Field(discriminator="step")]


class Plan(FrozenModel):
    """``registry_head`` is the registry it was made for; apply refuses any other."""

    registry_head: str
    steps: tuple[Step, ...]


class SavedPlan(FrozenModel):
    """A plan in a file, with a hash that detects edits."""

    plan: Plan
    hash: str

    @classmethod
    def of(cls, plan: Plan) -> Self:
        return cls(plan=plan, hash=plan.content_hash())

    def opened(self) -> Plan:
        if self.plan.content_hash() != self.hash:
            raise PlanChanged()
        return self.plan


class Applied(FrozenModel):
    apply_id: str | None
    """None if there was nothing to do."""
    steps: int
    registry_head: str
    applied_at: Instant
    registered: tuple[DatasetName, ...] = ()
