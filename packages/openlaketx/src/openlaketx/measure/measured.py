"""What measuring came to."""

from __future__ import annotations

from dataclasses import dataclass, field

from lakeguard_sdk.measure import MeasureValue


@dataclass
class Measured:
    """One value per measure taken; a measure that raised stands with its reason instead."""

    engine: str
    values: dict[str, MeasureValue] = field(default_factory=dict)
    unmeasured: dict[str, str] = field(default_factory=dict)
