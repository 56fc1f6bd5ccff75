"""A suggested rule, the evidence for it, and a change of the data that it would not let pass."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Outcome, Severity
from lakeguard_sdk.core.frozen_model import Instant, Noun
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


class Mutation(Noun):
    """A change of the rows on which the rule fails: it shows that the rule can."""

    kind: MutationKind
    column: str = ""
    type: str = ""
    value: MeasureValue = None
    """What the column is set to, as evidence spells values of its type; None is NULL. Of ``KEEP``,
    how many rows are left."""

    @property
    def says(self) -> str:
        value = "NULL" if self.value is None else self._spelt()
        match self.kind:
            case MutationKind.SET_ONE:
                return f"{self.column} of one row set to {value}"
            case MutationKind.SET_ALL:
                return f"{self.column} of every row set to {value}"
            case MutationKind.REPEAT_ONE:
                return "one row comes twice"
            case MutationKind.KEEP:
                return "no row is left" if not self.value else f"only {value} rows are left"

    def _spelt(self) -> str:
        text = str(self.value)
        if len(text) > _LONGEST:
            return f"a text of {len(text):,} characters"
        return text if is_numeric(self.type) or not self.type else f"'{text}'"


def one_set(column: ColumnProfile, value: MeasureValue) -> Mutation:
    """One row has this value in the column instead of its own."""
    kind = MutationKind.SET_ONE
    return Mutation(kind=kind, column=column.column, type=column.type, value=value)


class Held(Noun):
    """What the rule comes to on one version, measured exactly."""

    version: int
    outcome: Outcome
    message: str
    failed_rows: int | None = None
    """None where the rule counts no rows, or could not be measured."""


class Draft(Noun):
    """A rule that a profile allows; nothing has been held against it yet."""

    rule: str
    """Canonical text, column named."""
    column: str = ""
    """Where it is about one column, and can stand under it."""
    about: str
    """What it says something about: a column needs one rule about each."""
    severity: Severity = Severity.WARN
    why: str
    support: int
    """Rows that speak for it."""
    strength: float
    """How likely such a rule is meant, were there rows without end."""
    mutation: Mutation


class Suggestion(Noun):
    """A draft that the rows keep, with what earlier versions say of it, the latest first."""

    rule: str
    column: str
    about: str
    severity: Severity
    why: str
    support: int
    confidence: float
    mutation: Mutation
    held: tuple[Held, ...] = ()


# What suggestions are made of: a profile, and what else is known of a dataset. No row of it.


class OtherKey(Noun):
    """A column of another dataset that names its rows, each once."""

    dataset: DatasetName
    column: str
    type: str


class Earlier(Noun):
    """A version as it was published: the rows that its run brought, and its newest values."""

    version: int
    at: Instant
    rows: int
    greatest: dict[str, MeasureValue] = Field(default_factory=dict)
    """By column; of columns that may not be told there is none."""


class Seen(Noun):
    """The rows that were profiled, and what is known beside them."""

    table_schema: TableSchema = Field(alias="schema")
    rows: int
    columns: tuple[ColumnProfile, ...]
    at: Instant
    """When they were published, or looked at."""
    keys: tuple[tuple[str, ...], ...] = ()
    """Keys that are known: those of the load, or those that a look found."""
    rules: tuple[RuleDefinition, ...] = ()
    """Rules that there are already."""
    others: tuple[OtherKey, ...] = ()
    versions: tuple[Earlier, ...] = ()
    """The published one first; none where nothing is published yet."""
