"""Trying a channel: an alert that tells nothing and is kept nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lakeguard.alerts.carrying import NotCarried, carrier_of
from lakeguard.alerts.message import message_of
from lakeguard.settings import ChannelSettings
from lakeguard_sdk.alert_errors import AlertNotSent, UnknownChannel
from lakeguard_sdk.alerting import Alert, AlertKind, alert_key
from lakeguard_sdk.ids import new_id
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.spelling import did_you_mean
from lakeguard_sdk.words import Severity

_SUBJECT = DatasetName("bronze.alert_test")


def try_channel(
    channels: Sequence[ChannelSettings], name: str, org_id: str, actor: str, at: datetime
) -> str:
    """The delivery id of the test alert; the channel's filters do not hold it back."""
    known = {channel.name: channel for channel in channels}
    if name not in known:
        there = f"there is {', '.join(known)}" if known else "lakeguard.toml names none"
        raise UnknownChannel(channel=name[:100], hint=did_you_mean(name, known), known=there)
    alert_id = new_id("alr")
    alert = Alert(
        alert_id=alert_id,
        kind=AlertKind.TEST,
        severity=Severity.WARN,
        organisation=org_id,
        dataset=_SUBJECT,
        dataset_id="",
        layer=_SUBJECT.layer,
        domain="test",
        owner=actor,
        message=f"{actor} tries the channel {name}; nothing happened",
        raised_at=at,
        dedupe_key=alert_key(AlertKind.TEST, alert_id),
    )
    channel, message = known[name], message_of(alert, name)
    try:
        carrier_of(channel).carry(message, channel.timeout_seconds)
    except NotCarried as error:
        raise AlertNotSent(channel=name, reason=str(error)) from None
    return message.delivery
