"""What a form of policy is: what it says, when it is judged, and what violates it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from lakeguard.gate.evaluation.case import CaseFacts
from lakeguard.gate.grammar.cursor import Cursor
from lakeguard.gate.subject import Subject
from lakeguard_sdk.core.enums import PolicyType
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.expressions.measures import Measure
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.types.schema import TableSchema


class Needs(StrEnum):
    """What must be known before a policy can be judged."""

    METADATA = "when the run opens, before the first byte is staged, and again in the decision"
    SCHEMA = "when the columns are known, before anything is staged"
    EVIDENCE = "in the decision, on what was staged and measured"


class Unjudged(Exception):
    """What the policy asks for is not known: the gate stays closed."""


@dataclass(frozen=True)
class Look:
    """All that a policy is judged on."""

    facts: CaseFacts
    evidence: Evidence | None
    clock: datetime

    @property
    def subject(self) -> Subject:
        if self.facts.subject is None:
            raise Unjudged("what it asks of the dataset is not known")
        return self.facts.subject

    @property
    def measured(self) -> Evidence:
        if self.evidence is None:
            raise Unjudged("nothing was measured")
        return self.evidence

    def count(self, key: str, what: str) -> int:
        """The value of a measure that counts something of ``what``."""
        found = self.measured.measures.get(key)
        if key in self.measured.unmeasured or not isinstance(found, int):
            why = self.measured.unmeasured.get(key, "it was not known when the run opened")
            raise Unjudged(f"{what} was not looked at: {why}")
        return found

    def count_of_all(self, key: str, what: str) -> int:
        """The same of every row that the run keeps, in the table or beside it."""
        left, quarantined = self.count(key, what), self.measured.quarantined
        if quarantined is None:
            return left
        found = quarantined.before.get(key)
        if not isinstance(found, int):
            raise Unjudged(f"{what} was not looked at before rows were quarantined")
        return max(left, found)


@dataclass(frozen=True)
class Judged:
    """Whether the policy holds, and the sentence that says so; None: it does not arise."""

    holds: bool | None
    message: str


class PolicyForm(FrozenModel):
    """A policy as it was read. Its text reads back as the same policy."""

    needs: ClassVar[Needs] = Needs.METADATA
    discards: ClassVar[bool] = False
    """Whether staged files that violate it may not be kept."""

    @abstractmethod
    def judge(self, look: Look) -> Judged:
        """What it comes to; Unjudged where what it asks for is missing."""

    @abstractmethod
    def __str__(self) -> str: ...

    def measures(self, schema: TableSchema) -> tuple[Measure, ...]:
        """What must be measured so that it can be judged."""
        return ()


@dataclass(frozen=True)
class FormReference:
    """What people read about a form; ``judged`` and ``violated`` are sentences."""

    form: str
    example: str
    says: str
    violated: str
    judged: str = f"{Needs.METADATA}."


@dataclass(frozen=True)
class PolicyKind:
    """A type of policy: how its expressions are read, and every form that they have."""

    type: PolicyType
    summary: str
    read: Callable[[Cursor], PolicyForm]
    forms: tuple[FormReference, ...]
