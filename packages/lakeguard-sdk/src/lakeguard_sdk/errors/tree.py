"""The root class and the five families of the error tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar


class LakeGuardError(Exception):
    """Carries its fields; ``retryable`` means that the same call may succeed later."""

    code: ClassVar[str] = "LG-0000"
    retryable: ClassVar[bool] = False
    exit_code: ClassVar[int] = 1
    what: ClassVar[str] = "something went wrong"
    next_command: ClassVar[str] = "lakeguard doctor"

    def __init__(self, **fields: Any) -> None:
        self.fields = fields
        super().__init__(self.what.format(**fields))

    @property
    def next_step(self) -> str:
        return self.next_command.format(**self.fields)

    def to_data(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "message": str(self),
            "next": self.next_step,
            "retryable": self.retryable,
        }


class UsageError(LakeGuardError):
    exit_code = 2


class Refused(LakeGuardError):
    exit_code = 3


class MoveError(LakeGuardError):
    next_command = "lakeguard run {dataset}"


class EngineError(LakeGuardError):
    pass


class StateError(LakeGuardError):
    pass


def error_classes(root: type[LakeGuardError] = LakeGuardError) -> Iterator[type[LakeGuardError]]:
    """All error classes, parents before their children."""
    yield root
    for child in root.__subclasses__():
        yield from error_classes(child)
