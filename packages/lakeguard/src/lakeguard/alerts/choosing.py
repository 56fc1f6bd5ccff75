"""Which alerts are for a channel. Pure."""

from __future__ import annotations

from fnmatch import fnmatchcase

from lakeguard.settings import AlertChannel
from lakeguard_sdk.alerting import Alert


def is_for(channel: AlertChannel, alert: Alert) -> bool:
    """Whether every filter of the channel lets the alert through."""
    return (
        _among(alert.kind, channel.kinds)
        and _among(alert.severity, channel.severities)
        and _among(alert.layer, channel.layers)
        and _like(alert.domain, channel.domains)
        and _like(alert.dataset, channel.datasets)
    )


def _among(word: str, words: tuple[str, ...]) -> bool:
    return not words or word in words


def _like(text: str, patterns: tuple[str, ...]) -> bool:
    return not patterns or any(fnmatchcase(text, pattern) for pattern in patterns)
