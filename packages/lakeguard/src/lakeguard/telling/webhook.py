"""News by HTTP: one signed POST, and what its answer means."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from lakeguard.telling.carrying import NotCarried
from lakeguard.telling.message import Message
from lakeguard_sdk.signed_post import NoAnswer, SignedPost


@dataclass(frozen=True)
class Webhook:
    """What answers 2xx has the message. A receiver may get it twice, with the same delivery id,
    where a process died after the answer."""

    url: str
    secret: str
    timeout_seconds: float
    marked_first: ClassVar[bool] = False
    clock: Callable[[], float] = time.time

    def carry(self, message: Message, seconds: float) -> None:
        try:
            answer = self._post(message).send(min(seconds, self.timeout_seconds))
        except NoAnswer as error:
            raise NotCarried(str(error)) from None
        if not answer.is_yes:
            refused = answer.status >= 400 and not answer.may_pass
            raise NotCarried(f"it answered {answer.status}", refused=refused)

    def _post(self, message: Message) -> SignedPost:
        return SignedPost(
            url=self.url,
            secret=self.secret,
            delivery=message.delivery,
            body=message.body,
            content_type=message.content_type,
            clock=self.clock,
        )
