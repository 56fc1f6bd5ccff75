"""The root class and the five families of the error tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self


class LakeGuardError(Exception):
    """Carries its fields; ``retryable`` means that the same call may succeed later."""

    code: ClassVar[str] = "LG-0000"
    retryable: ClassVar[bool] = False
    exit_code: ClassVar[int] = 1
    what: ClassVar[str] = "something went wrong"
    next_command: ClassVar[str] = "lakeguard doctor"
    _next_step: str | None = None
    """Set if the error was raised in another process."""
    retry_after: float = 0.0
    """Seconds after which a service asks to be called again."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields
        super().__init__(self.what.format(**fields))

    @classmethod
    def restored(cls, message: str, next_step: str, fields: dict[str, Any]) -> Self:
        """The error as another process raised it. Attributes beyond the fields are absent, and the
        fields have the types of JSON."""
        error = cls.__new__(cls)
        Exception.__init__(error, message)
        error.fields = fields
        error._next_step = next_step
        return error

    @property
    def next_step(self) -> str:
        given = self._next_step
        return self._own_next_step() if given is None else given

    def _own_next_step(self) -> str:
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
