"""The side of the gate: a batch that another process builds.

Of that process it believes nothing that it can read itself: inputs are those of the plan, rows,
schema and statistics those of the files.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

from lakeguard_sdk.errors import BuildFailed, BuildProcessEnded, LakeGuardError
from lakeguard_sdk.model.evidence import InputVersion, checked_notes
from lakeguard_sdk.model.lineage import BatchLineage
from lakeguard_sdk.model.run import (
    FrameBuild,
    PythonBuild,
    RunPlan,
    RunTicket,
    SchemaVerdict,
    SourceBuild,
)
from lakeguard_sdk.storage.location import is_marker
from lakeguard_sdk.storage.run_folders import quarantine_place
from lakeguard_sdk.storage.storage import Storage, storage_for, store_access
from openlaketx.engine.known_files import SourceFiles, known_files
from openlaketx.extract.pinned_inputs import files_to_read
from openlaketx.isolation.messages import (
    BadMessage,
    BatchFacts,
    BuildError,
    BuildInterrupted,
    CancelOrder,
    Described,
    DescribeOrder,
    Link,
    Message,
    PlaceOrder,
    SourceFilesFound,
    SourceFilesOrder,
    Staged,
    StageOrder,
    raised,
)
from openlaketx.loads import StagedBatch, collect_batch, merges
from openlaketx.loads.staged_batch import staged_schema
from openlaketx.stage import Candidate, in_background
from openlaketx.stage.candidate import refuse_irregular
from openlaketx.stage.footer_ranges import check_footers
from openlaketx.stage.run_staging import run_folders

STOP_SECONDS = 10.0
"""How long a cancelled build may go on before it is abandoned."""
_LOOK_SECONDS = 0.2
_Answer = TypeVar("_Answer", bound=Message)


class RemoteBuilder:
    """One run's connection to the process that builds it, closed at the end of a ``with`` block.

    ``ending`` says how the other process ended; ``interrupted`` is called when its user types
    Ctrl-C, or when it is gone.
    """

    def __init__(
        self,
        link: Link,
        *,
        lake: str,
        project: str,
        ending: Callable[[], str],
        reader: SourceFiles | None = None,
        interrupted: Callable[[], None] = lambda: None,
        abandon: Callable[[], None] = lambda: None,
    ) -> None:
        self._link = link
        self._lake = lake
        self._project = project
        self._ending = ending
        self._reader = reader
        self._on_interrupt = interrupted
        self._abandon = abandon
        self._answers: queue.SimpleQueue[Message | BadMessage | None] = queue.SimpleQueue()
        self._cancelled = 0.0
        self._facts: BatchFacts | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._link.close()

    def start(self) -> None:
        """Receive answers from now on."""
        threading.Thread(target=self._receive, name="answers", daemon=True).start()

    def cancel(self) -> None:
        """Stop the Spark jobs of the build; it is abandoned if it does not answer in time."""
        self._cancelled = self._cancelled or time.monotonic()
        try:
            self._link.send(CancelOrder())
        except OSError:
            return

    def describe(self, plan: RunPlan) -> BatchFacts | None:
        for pin in plan.pins:  # the other process has no records to compare the files with
            files_to_read(pin, plan.dataset, plan.load.type)
        order = DescribeOrder(
            plan=without_credentials(plan),
            lake=self._lake,
            project=self._project,
            store=store_access(self._lake) or store_access(plan.location),
            staging=run_folders(plan, self._lake),
        )
        facts = self._asked(order, Described, plan).facts
        if facts is None:
            return None
        self._facts = facts
        source = isinstance(plan.build, SourceBuild)
        return facts.model_copy(
            update={
                "inputs": _inputs(plan, facts),
                "lineage": _lineage(plan, facts),
                "position": facts.position if source else None,
                "rejected": facts.rejected if source else 0,
                "notes": checked_notes(facts.notes),
            }
        )

    def stage(self, plan: RunPlan, verdict: SchemaVerdict) -> StagedBatch:
        storage = storage_for(plan.location)
        facts = self._facts or BatchFacts(live=plan.batch_schema)
        source = isinstance(plan.build, SourceBuild)
        order = StageOrder(plan=without_credentials(plan), verdict=verdict)
        answer = self._asked(order, Staged, plan)
        rejected = rejected_rows(plan, self._lake, storage)

        def placed() -> Candidate:
            self._asked(PlaceOrder(), Staged, plan)
            again, _ = collect_batch(plan, storage, placed=True)
            check_footers(again, plan.dataset)
            return again

        files, marks = collect_batch(plan, storage)
        checked = in_background(lambda: check_footers(files, plan.dataset))
        if merges(plan):
            checked.result()  # ranges of keys choose the files of the table to read
        return StagedBatch(
            files,
            staged_schema(plan),
            marks,
            late=answer.late if source else 0,
            rejected=rejected + (facts.rejected if source else 0),
            checked=checked,
            placed=placed if facts.ordered and source else None,
        )

    def _asked(self, order: Message, wanted: type[_Answer], plan: RunPlan) -> _Answer:
        try:
            self._link.send(order)
        except OSError:
            raise self._ended(plan) from None
        answer = self._answer(plan)
        while isinstance(answer, SourceFilesOrder):
            self._link.send(self._files_read_before(answer, plan))
            answer = self._answer(plan)
        if isinstance(answer, wanted):
            return answer
        if isinstance(answer, BuildInterrupted):
            raise KeyboardInterrupt
        if isinstance(answer, BuildError):
            raise raised(answer) or BuildFailed(dataset=plan.dataset, reason=answer.message)
        reason = f"answered {order.kind} with {answer.kind}"
        raise BuildProcessEnded(dataset=plan.dataset, reason=reason)

    def _files_read_before(self, order: SourceFilesOrder, plan: RunPlan) -> SourceFilesFound:
        """Only files of the base version of this run, whatever the process asks for."""
        known = known_files(plan, self._reader)
        if known is None:
            return SourceFilesFound(files=())
        if order.keys is None:
            return SourceFilesFound(files=tuple(known.page(order.after)))
        return SourceFilesFound(files=tuple(known.among(order.keys).values()))

    def _answer(self, plan: RunPlan) -> Message:
        while True:
            try:
                answer = self._answers.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                if self._cancelled and time.monotonic() - self._cancelled > STOP_SECONDS:
                    self._abandon()
                    raise BuildProcessEnded(
                        dataset=plan.dataset, reason=f"did not stop within {STOP_SECONDS:g} s"
                    ) from None
                continue
            if answer is None:
                raise self._ended(plan)
            if isinstance(answer, BadMessage):
                raise BuildProcessEnded(dataset=plan.dataset, reason=str(answer))
            return answer

    def _ended(self, plan: RunPlan) -> LakeGuardError:
        return BuildProcessEnded(dataset=plan.dataset, reason=self._ending())

    def _receive(self) -> None:
        try:
            while (answer := self._link.receive()) is not None:
                self._answers.put(answer)
                if isinstance(answer, BuildInterrupted):
                    self._on_interrupt()
        except BadMessage as error:
            self._answers.put(error)
        finally:
            self._answers.put(None)
            self._on_interrupt()


def without_credentials(plan: RunPlan) -> RunPlan:
    """The plan for a build: without its lease, what is measured, and where it is delivered."""
    ticket = plan.ticket
    return plan.model_copy(
        update={
            "ticket": RunTicket(
                run_id=ticket.run_id, task_id=ticket.task_id, attempt=ticket.attempt, lease_token=""
            ),
            "measures": (),
            "references": (),
            "database": None,
            "settings": {},
        }
    )


def _inputs(plan: RunPlan, facts: BatchFacts) -> tuple[InputVersion, ...]:
    """The pinned inputs; a program alone knows those of its frame."""
    if isinstance(plan.build, FrameBuild):
        return facts.inputs
    return tuple(dict.fromkeys(pin.input for pin in plan.pins))


def _lineage(plan: RunPlan, facts: BatchFacts) -> BatchLineage | None:
    """As reported; what a build does not report is unknown, and may be made of all its inputs."""
    if not isinstance(plan.build, PythonBuild | FrameBuild):
        return facts.lineage
    reported = facts.lineage or BatchLineage(columns=())
    if isinstance(plan.build, FrameBuild):
        return reported
    pinned = _inputs(plan, facts)
    known = tuple(item for item in reported.inputs if item in pinned)
    return reported.model_copy(update={"inputs": known, "read": pinned})


def rejected_rows(plan: RunPlan, lake: str, storage: Storage) -> int:
    """Rows of the batch that did not fit their type: lines in their quarantine folder.

    A link there fails the run: its rows would be those of other files, or be left out.
    """
    place = quarantine_place(lake, plan.dataset, plan.ticket.run_id)
    refuse_irregular(place, plan.dataset, storage)
    if not storage.has_files(place):
        return 0
    files = [facts.path for facts in storage.files_under(place)]
    rows = (file for file in files if not is_marker(file.rpartition("/")[2]))
    return sum(_lines(file, storage) for file in rows)


def _lines(location: str, storage: Storage) -> int:
    with storage.open(location) as content:
        return sum(1 for _ in content)
