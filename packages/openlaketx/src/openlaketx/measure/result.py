"""What measuring came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakeguard_sdk.expressions.measures import MeasureValue


@dataclass
class Measured:
    """One value per measure taken; a measure that raised stands with its reason instead."""

    engine: str
    values: dict[str, MeasureValue] = field(default_factory=dict)
    unmeasured: dict[str, str] = field(default_factory=dict)

    def without(self, unmeasured: Mapping[str, str]) -> Measured:
        """The same, where some of it is not to be believed."""
        values = {key: value for key, value in self.values.items() if key not in unmeasured}
        return Measured(self.engine, values, {**unmeasured, **self.unmeasured})
