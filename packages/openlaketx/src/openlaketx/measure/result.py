"""The result of measuring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakeguard_sdk.expressions.measures import MeasureValue


@dataclass
class Measured:
    """One value per measure; a measure that failed has a reason instead."""

    engine: str
    values: dict[str, MeasureValue] = field(default_factory=dict)
    unmeasured: dict[str, str] = field(default_factory=dict)

    def joined(self, other: Measured) -> Measured:
        """Both results; the engine is that of the other."""
        values, unmeasured = self.values | other.values, self.unmeasured | other.unmeasured
        return Measured(other.engine, values, unmeasured)

    def without(self, unmeasured: Mapping[str, str]) -> Measured:
        """The same result with some measures marked as unmeasured."""
        values = {key: value for key, value in self.values.items() if key not in unmeasured}
        return Measured(self.engine, values, {**unmeasured, **self.unmeasured})
