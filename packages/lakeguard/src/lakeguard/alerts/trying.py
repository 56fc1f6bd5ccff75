"""An alert that tells nothing and is kept nowhere, to try a channel by."""

from __future__ import annotations

from datetime import datetime

from lakeguard_sdk.alerting import Alert, AlertKind, alert_key
from lakeguard_sdk.ids import new_id
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.words import Severity

_SUBJECT = DatasetName("bronze.alert_test")


def trial(channel: str, org_id: str, actor: str, at: datetime) -> Alert:
    alert_id = new_id("alr")
    return Alert(
        alert_id=alert_id,
        kind=AlertKind.TEST,
        severity=Severity.WARN,
        organisation=org_id,
        dataset=_SUBJECT,
        dataset_id="",
        layer=_SUBJECT.layer,
        domain="test",
        owner=actor,
        message=f"{actor} tries the channel {channel}; nothing happened",
        raised_at=at,
        dedupe_key=alert_key(AlertKind.TEST, alert_id),
    )
