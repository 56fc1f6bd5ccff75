"""A test alert, which is not stored."""

from __future__ import annotations

from datetime import datetime

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.model.notifications import Alert, AlertKind, alert_key

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
