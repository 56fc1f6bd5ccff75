"""Alerts in the log of the process: standard error, unless the program set up logging itself."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import ClassVar

from lakeguard.alerts.message import Message
from lakeguard_sdk.words import Severity

LOGGER = logging.getLogger("lakeguard.alerts")
_LEVELS = {Severity.WARN: logging.WARNING, Severity.FAIL: logging.ERROR}


@dataclass(frozen=True)
class Log:
    """One line for each alert, never two: a log cannot be asked whether it has one."""

    marked_first: ClassVar[bool] = True

    def carry(self, message: Message, seconds: float) -> None:
        LOGGER.log(_LEVELS[message.alert.severity], "%s", message.body.decode())
