"""The frozen base class of all models exchanged between the planes."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Annotated, Any, Self

from pydantic import (
    VERSION,
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    TypeAdapter,
    ValidationError,
)

from lakeguard_sdk.core.canonical_json import canonical_data, data_hash, format_instant

BUILT_ON_FIRST_USE = tuple(map(int, VERSION.split(".")[:2])) >= (2, 14)
"""Whether validators are built on first use, not on import: a command uses few of the models it
imports. Before pydantic 2.14 a thread could meet a half-built model and use its parent's validator.
"""


class FrozenModel(BaseModel):
    """An immutable model; equal content has equal canonical bytes and one content hash."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        populate_by_name=True,
        defer_build=BUILT_ON_FIRST_USE,
    )

    @classmethod
    def model_rebuild(cls, **options: Any) -> bool | None:
        """Names in annotations are those of the model's module, whoever uses the model first."""
        return super().model_rebuild(**{"_types_namespace": {}, **options})

    def to_data(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True)

    def to_json(self) -> str:
        return canonical_data(self.to_data())

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        return cls.model_validate_json(text)

    def content_hash(self) -> str:
        return data_hash(self.to_data())


def complete(*models: type[FrozenModel]) -> None:
    """For models whose fields name classes that follow them; they are built here, unless on first
    use."""
    for model in models:
        if not BUILT_ON_FIRST_USE:
            model.model_rebuild()


_DATE = re.compile(r"[0-9]{4}-", re.ASCII)
_MOMENT: TypeAdapter[datetime] = TypeAdapter(datetime)


def _read_moment(value: Any) -> Any:
    """Numbers are refused, also as text: they may be seconds or milliseconds."""
    if isinstance(value, datetime):
        return value
    if not (isinstance(value, str) and _DATE.match(value)):
        raise ValueError(_MOMENT_FORM)
    try:  # here, because a strict datetime takes no text from a validator
        return _MOMENT.validate_python(value)
    except ValidationError:
        raise ValueError(_MOMENT_FORM) from None


_MOMENT_FORM = "write a time as YYYY-MM-DDTHH:MM:SSZ"


def _read_day(value: Any) -> Any:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    try:
        return date.fromisoformat(value if _DATE.match(value) else "")
    except (TypeError, ValueError):
        raise ValueError("write a day as YYYY-MM-DD") from None


def _utc(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError("a time needs a time zone")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError("a time in UTC is between the years 1 and 9999") from None


Instant = Annotated[
    datetime,
    BeforeValidator(_read_moment, json_schema_input_type=datetime),
    AfterValidator(_utc),
    PlainSerializer(format_instant, return_type=str, when_used="json"),
]

Day = Annotated[date, BeforeValidator(_read_day, json_schema_input_type=date)]
