"""A plan is data: the list of steps that ``plan`` shows and ``apply`` walks."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.frozen_model import Instant, Noun
from lakeguard_sdk.errors import PlanChanged
from lakeguard_sdk.model.definitions import Definition


class Change(Noun):
    """One field that differs, for the reader of a plan."""

    field: str
    before: str | None
    after: str | None


class Register(Noun):
    """A definition of a name that is not registered yet."""

    step: Literal["register"] = "register"
    definition: Definition


class Revise(Noun):
    """Another definition of what is registered, under a new name where it was renamed.

    ``revision`` is the one that the step supersedes: its precondition.
    """

    step: Literal["revise"] = "revise"
    key: str
    """What the registry calls the thing, whatever its name is."""
    revision: int
    definition: Definition
    changes: tuple[Change, ...]


Step = Annotated[Register | Revise, Field(discriminator="step")]


class Plan(Noun):
    """``registry_head`` is the registry it was made against; apply refuses any other."""

    registry_head: str
    steps: tuple[Step, ...]


class KeptPlan(Noun):
    """A plan in a file, with the hash that tells whether somebody edited it since."""

    plan: Plan
    hash: str

    @classmethod
    def of(cls, plan: Plan) -> Self:
        return cls(plan=plan, hash=plan.content_hash())

    def opened(self) -> Plan:
        if self.plan.content_hash() != self.hash:
            raise PlanChanged()
        return self.plan


class Applied(Noun):
    apply_id: str | None
    """None where there was nothing to do."""
    steps: int
    registry_head: str
    applied_at: Instant
    registered: tuple[DatasetName, ...] = ()
