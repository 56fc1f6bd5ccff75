"""A delivery that cannot be made, in words that say the way out."""

from __future__ import annotations

from lakeguard_sdk.errors import DeliveryFailed
from lakeguard_sdk.reading import ResolvedDataset


def failed(shown: ResolvedDataset, reason: str) -> DeliveryFailed:
    return DeliveryFailed(dataset=shown.dataset, version=shown.version, reason=reason)
