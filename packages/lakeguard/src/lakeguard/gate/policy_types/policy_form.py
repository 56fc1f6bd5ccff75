"""Policy forms: syntax, evaluation and documentation."""

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
    """What must be known before a policy can be evaluated."""

    METADATA = "when the run opens, before anything is staged, and again in the decision"
    SCHEMA = "when the columns are known, before anything is staged"
    EVIDENCE = "in the decision, on the staged and measured data"


class CannotEvaluate(Exception):
    """The input of the policy is missing: the gate stays closed."""


@dataclass(frozen=True)
class PolicyInput:
    """Everything a policy is evaluated on."""

    facts: CaseFacts
    evidence: Evidence | None
    clock: datetime

    @property
    def subject(self) -> Subject:
        if self.facts.subject is None:
            raise CannotEvaluate("the dataset's metadata is unknown")
        return self.facts.subject

    @property
    def measured(self) -> Evidence:
        if self.evidence is None:
            raise CannotEvaluate("nothing was measured")
        return self.evidence

    def count(self, key: str, what: str) -> int:
        """A count measured of ``what``."""
        found = self.measured.measures.get(key)
        if key in self.measured.unmeasured or not isinstance(found, int):
            why = self.measured.unmeasured.get(key, "it was not requested when the run opened")
            raise CannotEvaluate(f"{what} was not searched: {why}")
        return found

    def count_of_all(self, key: str, what: str) -> int:
        """The count including quarantined rows."""
        left, quarantined = self.count(key, what), self.measured.quarantined
        if quarantined is None:
            return left
        found = quarantined.before.get(key)
        if not isinstance(found, int):
            raise CannotEvaluate(f"{what} was not searched before rows were quarantined")
        return max(left, found)


@dataclass(frozen=True)
class PolicyResult:
    """Whether the policy holds, and why; ``holds`` is None if it does not apply."""

    holds: bool | None
    message: str


class PolicyForm(FrozenModel):
    """A parsed policy. Its text parses back to the same policy."""

    needs: ClassVar[Needs] = Needs.METADATA
    discards: ClassVar[bool] = False
    """Whether violating staged files must not be retained."""

    @abstractmethod
    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        """Raises CannotEvaluate if its input is missing."""

    @abstractmethod
    def __str__(self) -> str: ...

    def measures(self, schema: TableSchema) -> tuple[Measure, ...]:
        """Measures it needs."""
        return ()


@dataclass(frozen=True)
class FormReference:
    """Documentation of a form; ``judged`` and ``violated`` are sentences."""

    form: str
    example: str
    meaning: str
    violated: str
    judged: str = f"{Needs.METADATA}."


@dataclass(frozen=True)
class PolicyKind:
    """A policy type: its parser and its forms."""

    type: PolicyType
    summary: str
    read: Callable[[Cursor], PolicyForm]
    forms: tuple[FormReference, ...]
