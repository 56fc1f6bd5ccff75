"""Checks records in a file against the registered kinds; nothing is stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from lakeguard.records.checks import KnownKinds
from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.records.kinds import MetadataKind
from lakeguard_sdk.records.record import MetadataRecord


class RecordProblem(NamedTuple):
    line: int
    place: str
    """The field, as ``payload.rows``; empty for the whole line."""
    reason: str


class CheckedRecords(NamedTuple):
    records: int
    problems: tuple[RecordProblem, ...]


def validate_records(path: Path, kinds: Sequence[MetadataKind]) -> CheckedRecords:
    """One record per line, empty lines aside; each that would be refused is named, also one whose
    fact an earlier line states with other content. The tenant is not compared."""
    known, facts, count = KnownKinds(kinds), dict[tuple[str, int], str](), 0
    problems: list[RecordProblem] = []
    with path.open("rb") as lines:
        for number, line in _filled(lines):
            count += 1
            try:
                record = MetadataRecord.from_json(line)
                record_id = known.check(record, record.context.environment.tenant)
            except ValidationError as error:
                problems += _invalid(number, error)
                continue
            except LakeGuardError as error:
                place = str(error.fields.get("place", "kind"))
                problems.append(
                    RecordProblem(number, place, str(error.fields.get("reason", error)))
                )
                continue
            body = record.to_json()
            if facts.setdefault((record_id, record.version), body) != body:
                reason = "an earlier line states the same fact with other content"
                problems.append(RecordProblem(number, "", reason))
    return CheckedRecords(count, tuple(problems))


def _filled(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())


def _invalid(number: int, error: ValidationError) -> Iterator[RecordProblem]:
    for each in error.errors(include_url=False, include_input=False):
        place = ".".join(map(str, each["loc"]))
        yield RecordProblem(number, place, each["msg"].removeprefix("Value error, "))
