"""Dataset names and addresses as validated types."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, GetCoreSchemaHandler
from pydantic_core import core_schema

from lakeguard_sdk.core.canonical_json import format_instant
from lakeguard_sdk.core.enums import Layer
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.errors import BadAddress, BadName

WORD_PATTERN = "[a-z][a-z0-9_]{0,127}"
"""Of names of datasets, without the layer, and of other definitions."""
_WORD = re.compile(rf"{WORD_PATTERN}\Z")


def check_word(text: str) -> str:
    """A lower snake case word of at most 128 characters, starting with a letter."""
    if not _WORD.match(text):
        raise BadName(name=text)
    return text


Word = Annotated[str, AfterValidator(check_word)]


class DatasetName(str):
    """``layer.name``, validated."""

    __slots__ = ()

    def __new__(cls, text: str) -> DatasetName:
        layer, dot, name = text.partition(".")
        if not dot or layer not in Layer.__members__.values():
            raise BadName(name=text)
        check_word(name)
        return super().__new__(cls, text)

    @property
    def layer(self) -> Layer:
        return Layer(self.partition(".")[0])

    @property
    def name(self) -> str:
        return self.partition(".")[2]

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(cls, core_schema.str_schema())


class Address(FrozenModel):
    """``silver.flights``, ``silver.flights@v7`` or ``silver.flights@2026-01-31T00:00Z``."""

    dataset: DatasetName
    version: int | None = None
    at: datetime | None = None

    def __str__(self) -> str:
        if self.version is not None:
            return f"{self.dataset}@v{self.version}"
        return f"{self.dataset}@{format_instant(self.at)}" if self.at else str(self.dataset)

    @property
    def pin(self) -> str:
        """What a message calls the version: ``v7``, or by when it was published."""
        if self.version is not None:
            return f"v{self.version}"
        return f"published by {format_instant(self.at)}" if self.at else "that is published"


def parse_version(text: str) -> int:
    """``v7`` or ``7`` as 7."""
    match = re.fullmatch(r"v?([1-9][0-9]{0,17})", text)
    if not match:
        raise BadAddress(address=text)
    return int(match[1])


def parse_address(text: str) -> Address:
    name, at, pin = text.partition("@")
    dataset = DatasetName(name)
    if not at:
        return Address(dataset=dataset)
    if re.fullmatch(r"v[0-9]+", pin):
        return Address(dataset=dataset, version=parse_version(pin))
    try:
        moment = datetime.fromisoformat(pin)
    except ValueError:
        raise BadAddress(address=text) from None
    if moment.tzinfo is None:
        raise BadAddress(address=text)
    return Address(dataset=dataset, at=moment.astimezone(UTC))


def clean_column(text: str) -> str:
    """The column name for a raw source name: ``Cell ID#`` as ``cell_id``."""
    return text.replace("#", "").strip().replace(" ", "_").lower()
