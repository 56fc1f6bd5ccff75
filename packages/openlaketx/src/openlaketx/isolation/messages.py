"""Messages between a build process and the process of the gate: one line of JSON each.

    gate → build    DescribeOrder, StageOrder, CancelOrder
    build → gate    Described, Staged, BuildError, BuildInterrupted

While it describes a batch, a build may ask for files that the base version has read:
``SourceFilesOrder``, answered by ``SourceFilesFound``.

A program that publishes sends ``RunOrder`` first, and receives ``RunEnded`` last, perhaps after
``RunWarning``. Data is parsed by
pydantic and never unpickled: a message cannot execute code in the process that reads it.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.errors import Fenced, LakeGuardError, error_classes
from lakeguard_sdk.model.evidence import InputVersion, SourceFile, SourcePosition
from lakeguard_sdk.model.lineage import BatchLineage
from lakeguard_sdk.model.run import RunPlan, RunResult, SchemaVerdict
from lakeguard_sdk.storage.store_options import StoreAccess
from lakeguard_sdk.types.schema import TableSchema

LARGEST = 64 << 20
"""Maximum length of a line in bytes."""
_LONGEST_TEXT = 4000


class BatchFacts(FrozenModel):
    """What a build says of its batch before any row is written."""

    live: TableSchema
    inputs: tuple[InputVersion, ...] = ()
    lineage: BatchLineage | None = None
    """What its columns are made of, by Spark's plan; None if the definition says it."""
    position: SourcePosition | None = None
    rejected: int = Field(default=0, ge=0)
    """Malformed lines of the source."""
    ordered: bool = False
    """Whether the order of its files decides which row of a key wins."""
    skip_empty: bool = False
    """Whether a batch without rows is nothing new: a micro-batch."""
    notes: dict[str, Any] = Field(default_factory=dict)


class DescribeOrder(FrozenModel):
    kind: Literal["describe"] = "describe"
    plan: RunPlan
    lake: str
    project: str
    store: StoreAccess | None = None
    """Of a lake in an object store."""
    staging: dict[str, str] = Field(default_factory=dict)
    """Local folders for staged files of such a lake, by prefix."""


class StageOrder(FrozenModel):
    kind: Literal["stage"] = "stage"
    plan: RunPlan
    verdict: SchemaVerdict


class PlaceOrder(FrozenModel):
    """Stage the rows again, each with the rank of its file."""

    kind: Literal["place"] = "place"


class CancelOrder(FrozenModel):
    kind: Literal["cancel"] = "cancel"


class SourceFilesOrder(FrozenModel):
    """Those of the source files that the base version has read; without keys, a page of all."""

    kind: Literal["source files"] = "source files"
    keys: tuple[str, ...] | None = None
    after: str = ""


class SourceFilesFound(FrozenModel):
    kind: Literal["source files found"] = "source files found"
    files: tuple[SourceFile, ...]


class Described(FrozenModel):
    kind: Literal["described"] = "described"
    facts: BatchFacts | None
    """None if there is nothing new to read."""


class Staged(FrozenModel):
    """The files are written; everything else is read from them."""

    kind: Literal["staged"] = "staged"
    late: int = Field(default=0, ge=0)


class BuildError(FrozenModel):
    """An error by its code and fields, or in words."""

    kind: Literal["error"] = "error"
    code: str
    message: str = Field(max_length=_LONGEST_TEXT)
    fields: dict[str, str] = Field(default_factory=dict)


class BuildInterrupted(FrozenModel):
    kind: Literal["interrupted"] = "interrupted"


class RunOrder(FrozenModel):
    """Run the next attempt of a task; without a task, only connect."""

    kind: Literal["run"] = "run"
    url: str
    env: str | None
    task_id: str = ""


class RunWarning(FrozenModel):
    """What did not fail the run, but must be shown to the program's user."""

    kind: Literal["warning"] = "warning"
    text: str


class RunEnded(FrozenModel):
    """The result, or the error that prevented one; neither after an interrupt."""

    kind: Literal["ended"] = "ended"
    result: RunResult | None = None
    error: BuildError | None = None


Message = Annotated[
    DescribeOrder
    | StageOrder
    | PlaceOrder
    | CancelOrder
    | SourceFilesOrder
    | SourceFilesFound
    | Described
    | Staged
    | BuildError
    | BuildInterrupted
    | RunOrder
    | RunWarning
    | RunEnded,
    Field(discriminator="kind"),
]
_MESSAGES: TypeAdapter[Message] = TypeAdapter(Message)


class BadMessage(ValueError):
    """The other process sent something that is no message."""


class Link:
    """One end of a connection; any thread may send, one thread receives."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._lines = end.makefile("rb")
        self._sending = threading.Lock()

    def send(self, message: Message) -> None:
        """OSError if the other process is gone."""
        line = message.model_dump_json(by_alias=True).encode() + b"\n"
        with self._sending:
            self._end.sendall(line)

    def receive(self) -> Message | None:
        """The next message; None at the end. ``BadMessage`` for anything else."""
        try:
            line = self._lines.readline(LARGEST + 1)
        except (OSError, ValueError):
            return None
        if not line:
            return None
        if not line.endswith(b"\n"):
            raise BadMessage("a message is incomplete or too long")
        try:
            return _MESSAGES.validate_json(line)
        except ValidationError as error:
            raise BadMessage(f"a message is invalid: {error.errors()[0]['msg']}") from None

    def close(self) -> None:
        """Ends ``receive`` at both ends."""
        with suppress(OSError):
            self._end.shutdown(socket.SHUT_RDWR)
        self._lines.close()
        self._end.close()


# Errors that cross the boundary.


def error_message(error: Exception) -> BuildError:
    """The error as a message; the first line of one that is not ours."""
    text = next((line for line in str(error).splitlines() if line.strip()), "")
    if isinstance(error, LakeGuardError):
        fields = {name: str(value) for name, value in error.fields.items()}
        return BuildError(code=error.code, message=text[:_LONGEST_TEXT], fields=fields)
    kind = type(error).__name__
    message = f"{kind}: {text}" if text else kind
    return BuildError(code=LakeGuardError.code, message=message[:_LONGEST_TEXT])


def raised(message: BuildError) -> LakeGuardError | None:
    """The error of the message's code; None if there is no such error, or its fields are missing.

    ``Fenced`` is never taken from a message: only the control plane says that a lease is lost.
    """
    for kind in error_classes():
        if kind.code == message.code != LakeGuardError.code and kind is not Fenced:
            try:
                return kind(**message.fields)
            except (KeyError, IndexError, TypeError, ValueError):
                return None
    return None
