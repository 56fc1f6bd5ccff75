"""News in the log of the process: standard error, unless the program set up logging itself."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import ClassVar

from lakeguard.telling.message import Message


@dataclass(frozen=True)
class Log:
    """One line for each message, never two: a log cannot be asked whether it has one."""

    marked_first: ClassVar[bool] = True

    def carry(self, message: Message, seconds: float) -> None:
        level = logging.ERROR if message.serious else logging.WARNING  # less is not shown
        logging.getLogger(f"lakeguard.{message.about}").log(level, "%s", message.body.decode())
