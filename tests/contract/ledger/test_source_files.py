"""What versions have read of their source: recorded by difference, read at any version."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import Select, func, insert, select

from lakeguard.insight.reader.reader import StateReader
from lakeguard.insight.verification.source_files import source_file_findings
from lakeguard.ledger import source_files as ledger
from lakeguard.ledger.source_files import all_files, compared_files, files_of, position_of
from lakeguard.ledger.versions import pointer
from lakeguard.promotion.run_port import PromotionRuns
from lakeguard.registry.store import require_dataset
from lakeguard.services.ports.operations import EmbeddedOperations
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import documents, outbox, source_files
from lakeguard_sdk.model.evidence import SourceFile, SourcePosition
from lakeguard_sdk.model.run import RunPlan, SourceBuild
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.databases.databases import KINDS
from tests.support.fakes.source_history import SourceHistory
from tests.support.lakes.published_by_hand import evidence_of
from tests.support.projects.planes import NUMBERS
from tests.support.projects.triggered_jobs import Plane, make_plane

Read = Callable[[RunPlan], SourcePosition | None]


@pytest.fixture(params=KINDS)
def plane(request: pytest.FixtureRequest, tmp_path: Path) -> Plane:
    return make_plane(request.param, tmp_path)


def dataset_id(plane: Plane) -> str:
    with plane.context.read() as tx:
        return require_dataset(tx, NUMBERS).dataset_id


def opened(plane: Plane) -> RunPlan:
    task_id = EmbeddedOperations(plane.context).submit(NUMBERS, "tests")
    plan = PromotionRuns(plane.context).open_run(task_id, this_process("tests"))
    assert isinstance(plan, RunPlan)
    return plan


def base(plan: RunPlan) -> int:
    assert isinstance(plan.build, SourceBuild)
    return 0 if plan.build.position is None else plan.build.position.version


def publish(plane: Plane, plan: RunPlan, read: SourcePosition | None) -> int:
    """The bytes of the evidence."""
    runs = PromotionRuns(plane.context)
    runs.submit_schema(plan.ticket, plan.declared)
    evidence = evidence_of(plane.lake, plan, [1]).model_copy(update={"position": read})
    assert runs.submit_evidence(plan.ticket, evidence).allowed
    runs.complete_move(plan.ticket, plane.lake.publish(runs.begin_move(plan.ticket)))
    return len(evidence.to_json())


def file(name: object, state: int = 1, *, by_content: bool = False) -> SourceFile:
    sha256 = f"{state:064x}" if by_content else ""
    return SourceFile(
        path=f"in/{name}.csv", size=state, modified_ms=state, sha256=sha256, by_content=by_content
    )


def any_read(chance: Random, known: dict[str, SourceFile], since: int) -> SourcePosition:
    """Some new and changed files, and some that went; or all files anew."""
    names = chance.sample(range(6), chance.randrange(4))
    files = tuple(
        file(name, chance.randrange(1, 4), by_content=chance.random() < 0.2) for name in names
    )
    files = tuple({found.key: found for found in files}.values())
    if chance.random() < 0.3:
        return SourcePosition(files=files)
    read = {found.key for found in files}
    gone = tuple(key for key in sorted(known) if key not in read and chance.random() < 0.2)
    return SourcePosition(since=since, files=files, gone=gone if since else ())


@pytest.mark.parametrize("seed", range(4))
def test_every_version_has_the_files_that_it_read(
    plane: Plane, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was published and rolled back between, and as a fake has it that keeps them all."""
    monkeypatch.setattr(ledger, "PAGE", 2)
    chance, history = Random(seed), SourceHistory()
    reads: list[SourcePosition] = []
    for _ in range(10):
        plan = opened(plane)
        since = base(plan)
        if since:
            assert isinstance(plan.build, SourceBuild)
            expected = {found.key: found for found in history.files(since).values()}
            assert plan.build.position is not None
            assert plan.build.position.holds(tuple(expected.values()))
        read = any_read(chance, history.files(since), since)
        publish(plane, plan, read)
        reads.append(read)
        position = history.add(read)
        of = dataset_id(plane)
        with plane.context.read() as tx:
            assert position_of(tx, of, position.version) == position
        if chance.random() < 0.4 and position.version > 1:
            plane.roll_back(NUMBERS, chance.randrange(1, position.version))
    _compare(plane, history, reads)
    assert list(source_file_findings(_state(plane))) == []


def _compare(plane: Plane, history: SourceHistory, reads: list[SourcePosition]) -> None:
    of, reader = dataset_id(plane), StateReader(_state(plane), str(plane.context.lake))
    keys = {key for version in range(len(reads) + 1) for key in history.files(version)}
    with plane.context.read() as tx:
        for version in range(1, len(reads) + 1):
            expected = history.files(version)
            found = {each.key: each for each in all_files(tx, of, version)}
            assert found == expected == files_of(tx, of, version, keys)
        for before, after in combinations_with_replacement(range(len(reads)), 2):
            old, new = compared_files(tx, of, reads[before], reads[after])
            was, became = history.files(before + 1), history.files(after + 1)
            for key in was.keys() | became.keys():
                same = was.get(key) == became.get(key)
                assert (old.get(key), new.get(key)) in (
                    [(was.get(key), became.get(key)), (None, None)]
                    if same
                    else [(was.get(key), became.get(key))]
                )
    for version in range(1, len(reads) + 1):
        asked = {each.key: each for each in reader.source_files(of, version, sorted(keys))}
        assert asked == history.files(version)


def _state(plane: Plane) -> OrganisationState:
    context = plane.context
    return OrganisationState.of(context.database, context.org_id)


def _rows(plane: Plane) -> Select[Any]:
    return select(source_files).where(source_files.c.dataset_id == dataset_id(plane))


def _written(plane: Plane) -> tuple[int, int]:
    """Bytes of documents, and rows of source files and of the outbox."""
    with plane.context.read() as tx:
        org = plane.context.org_id
        size = func.coalesce(func.sum(func.length(documents.c.body)), 0)
        body = tx.scalar(select(size).where(documents.c.org_id == org))
        rows = sum(
            int(tx.scalar(select(func.count()).where(table.c.org_id == org)) or 0)
            for table in (source_files, outbox)
        )
    return int(body or 0), rows


def _one_more(plane: Plane, number: int) -> tuple[int, int, int, int]:
    """What one more file costs: bytes of plan, evidence and documents, and rows."""
    before = _written(plane)
    plan = opened(plane)
    evidence = publish(plane, plan, SourcePosition(since=base(plan), files=(file(f"{number:05}"),)))
    after = _written(plane)
    return len(plan.to_json()), evidence, after[0] - before[0], after[1] - before[1]


def test_a_run_costs_what_it_reads_not_what_was_read_before(plane: Plane) -> None:
    costs = []
    for number in (20, 2_000):
        files = tuple(file(f"{each:05}") for each in range(number))
        publish(plane, opened(plane), SourcePosition(files=files))
        costs.append(_one_more(plane, number))
    few, many = costs
    assert few[3] == many[3], "rows"
    for what, less, more in zip(("plan", "evidence", "documents"), few, many, strict=False):
        assert abs(more - less) < 40, f"bytes of {what}: only numbers are longer"


def test_files_that_are_read_again_as_they_were_add_no_row(plane: Plane) -> None:
    files = tuple(file(number) for number in range(5))
    publish(plane, opened(plane), SourcePosition(files=files))
    rows = _written(plane)[1]
    publish(plane, opened(plane), SourcePosition(files=(*files[:4], file(4, 2))))
    own = _rows(plane)
    with plane.context.read() as tx:
        changed = tx.execute(own.where(source_files.c.version == 2)).all()
    assert [row.path for row in changed] == ["in/4.csv"]
    assert _written(plane)[1] > rows


@pytest.mark.parametrize(
    ("read", "problem"),
    [
        (SourcePosition(since=7), "continues v7"),
        (SourcePosition(gone=("in/1.csv",)), "continues no other"),
    ],
)
def test_a_position_continues_the_base_or_none(
    plane: Plane, read: SourcePosition, problem: str
) -> None:
    publish(plane, opened(plane), SourcePosition(files=(file(1),)))
    plan = opened(plane)
    runs = PromotionRuns(plane.context)
    runs.submit_schema(plan.ticket, plan.declared)
    evidence = evidence_of(plane.lake, plan, [1]).model_copy(update={"position": read})
    decision = runs.submit_evidence(plan.ticket, evidence)
    assert not decision.allowed
    assert problem in " ".join(decision.ruling.reasons)


def test_files_that_do_not_add_up_are_found(plane: Plane) -> None:
    publish(plane, opened(plane), SourcePosition(files=(file(1),)))
    own = _rows(plane)
    with plane.context.write() as tx:
        row = dict(tx.execute(own).mappings().one())
        tx.execute(insert(source_files).values({**row, "file_key": "x", "path": "in/2.csv"}))
    (finding,) = source_file_findings(_state(plane))
    assert finding.place == f"{NUMBERS}@v1"
    assert "expected the 1 source files of its position, found 2" in finding.message


def test_a_blocked_run_leaves_the_position_where_it_was(plane: Plane) -> None:
    publish(plane, opened(plane), SourcePosition(files=(file(1),)))
    plan = opened(plane)
    runs = PromotionRuns(plane.context)
    runs.submit_schema(plan.ticket, plan.declared)
    read = SourcePosition(since=7, files=(file(2),))
    evidence = evidence_of(plane.lake, plan, [1]).model_copy(update={"position": read})
    assert not runs.submit_evidence(plan.ticket, evidence).allowed
    again = opened(plane)
    assert base(again) == 1
    of = dataset_id(plane)
    with plane.context.read() as tx:
        shown = pointer(tx, of)
        assert shown is not None
        assert [each.path for each in all_files(tx, of, shown.version)] == ["in/1.csv"]
