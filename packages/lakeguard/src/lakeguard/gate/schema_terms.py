"""How far the schema of a run may differ, as it stood when the run opened."""

from __future__ import annotations

from pydantic import Field

from lakeguard.gate.schema_profiles import BUILT_IN
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.schema_words import Reaction, SchemaChange

DEFAULT = "default"


class SchemaTerms(Noun):
    """What the profile answers to each class of difference, and what the definition adds."""

    profile: str = DEFAULT
    answers: dict[SchemaChange, Reaction] = Field(default_factory=lambda: dict(BUILT_IN[DEFAULT]))
    promised: tuple[str, ...] = ()
    """Columns that the source itself is to declare without NULL."""
    leave_out: tuple[str, ...] = ()
