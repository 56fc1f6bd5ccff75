"""A suggested rule with its evidence and a mutation that it catches."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Outcome, Severity
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.model.profile import ColumnProfile
from lakeguard_sdk.types.schema import TableSchema, is_numeric

_LONGEST = 40


class MutationKind(StrEnum):
    SET_ONE = "set_one"
    SET_ALL = "set_all"
    REPEAT_ONE = "repeat_one"
    KEEP = "keep"


class Mutation(FrozenModel):
    """A change of the data that makes the rule fail."""

    kind: MutationKind
    column: str = ""
    type: str = ""
    value: MeasureValue = None
    """The column's new value in evidence format; None is NULL. For ``KEEP``, the rows left."""

    @property
    def description(self) -> str:
        value = "NULL" if self.value is None else self._spelt()
        match self.kind:
            case MutationKind.SET_ONE:
                return f"{self.column} of one row set to {value}"
            case MutationKind.SET_ALL:
                return f"{self.column} of every row set to {value}"
            case MutationKind.REPEAT_ONE:
                return "one row comes twice"
            case MutationKind.KEEP:
                if not self.value:
                    return "no row is left"
                return "only 1 row is left" if self.value == 1 else f"only {value} rows are left"

    def _spelt(self) -> str:
        text = str(self.value)
        if len(text) > _LONGEST:
            return f"a text of {len(text):,} characters"
        return text if is_numeric(self.type) or not self.type else f"'{text}'"


def one_set(column: ColumnProfile, value: MeasureValue) -> Mutation:
    """Replace one row's value."""
    kind = MutationKind.SET_ONE
    return Mutation(kind=kind, column=column.column, type=column.type, value=value)


class VersionResult(FrozenModel):
    """The rule's exact result on one version."""

    version: int
    outcome: Outcome
    message: str
    failed_rows: int | None = None
    """None if the rule counts no rows or could not be measured."""


class Draft(FrozenModel):
    """A rule drafted from a profile, not yet checked."""

    rule: str
    """Canonical rule text with the column."""
    column: str = ""
    """Its column, if it concerns exactly one."""
    about: str
    """The aspect it covers: a column needs one rule per aspect."""
    severity: Severity = Severity.WARN
    why: str
    support: int
    """Supporting rows."""
    strength: float
    """Likelihood given unlimited rows."""
    mutation: Mutation


class Suggestion(FrozenModel):
    """A draft that holds, with its results on earlier versions, latest first."""

    rule: str
    column: str
    about: str
    severity: Severity
    why: str
    support: int
    confidence: float
    mutation: Mutation
    results: tuple[VersionResult, ...] = ()


# Input of suggestions: a profile and other facts, but no rows.


class OtherKey(FrozenModel):
    """A key column of another dataset."""

    dataset: DatasetName
    column: str
    type: str


class Earlier(FrozenModel):
    """An earlier version: row count and newest values."""

    version: int
    at: Instant
    rows: int
    greatest: dict[str, MeasureValue] = Field(default_factory=dict)
    """By column, without redacted ones."""


class ProfileFacts(FrozenModel):
    """The profile and other known facts."""

    table_schema: TableSchema = Field(alias="schema")
    rows: int
    columns: tuple[ColumnProfile, ...]
    at: Instant
    """When the rows were published or inspected."""
    keys: tuple[tuple[str, ...], ...] = ()
    """Known keys, from the load or from inspection."""
    rules: tuple[RuleDefinition, ...] = ()
    """Existing rules."""
    others: tuple[OtherKey, ...] = ()
    versions: tuple[Earlier, ...] = ()
    """Versions, the published one first."""
