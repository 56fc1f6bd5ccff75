"""Datasets that a search found, and why."""

from __future__ import annotations

from enum import StrEnum

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Layer
from lakeguard_sdk.core.frozen_model import FrozenModel


class MatchedField(StrEnum):
    NAME = "name"
    OWNER = "owner"
    DOMAIN = "domain"
    TAG = "tag"
    COLUMN = "column"
    DESCRIPTION = "description"


class Match(FrozenModel):
    """A value that the search found."""

    field: MatchedField
    value: str


class FoundDataset(FrozenModel):
    dataset_id: str
    dataset: DatasetName
    layer: Layer
    domain: str
    owner: str
    active: bool
    description: str
    matched: tuple[Match, ...] = ()
    """Where the words stand."""
