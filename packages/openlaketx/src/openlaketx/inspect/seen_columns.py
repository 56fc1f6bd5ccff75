"""The columns of rows that were looked at, each in the type that it is proposed with."""

from __future__ import annotations

from dataclasses import dataclass

from lakeguard_sdk.schema import is_nested
from openlaketx.measure.condition_sql import sql_type


@dataclass(frozen=True)
class SeenColumn:
    """Where it stands among the rows seen, and what it is there."""

    at: int
    name: str
    type: str
    nulls: int
    null_mark: str | None = None
    """What stands for NULL in files of text; None where values have types of their own."""

    @property
    def value(self) -> str:
        """SQL of its value as a run would load it."""
        raw = f"c{self.at:d}"
        if self.null_mark is None:
            return raw if is_nested(self.type) else f"CAST({raw} AS {_held(self.type)})"
        told = f"nullif({raw}, '{self.null_mark.replace(chr(39), chr(39) * 2)}')"
        if self.type == "string":
            return told if self.null_mark else raw
        return f"try_cast(nullif({told}, '') AS {_held(self.type)})"


def _held(data_type: str) -> str:
    """Floats as files hold them: measuring makes doubles of them by itself."""
    return "FLOAT" if data_type == "float" else sql_type(data_type)
