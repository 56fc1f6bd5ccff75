"""Every schema change class under every profile and every reaction, on real runs."""

from __future__ import annotations

import itertools
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from lakeguard.gate.policy_types.schema_mode import SCHEMA_MODES
from lakeguard.gate.schema.profiles import BUILT_IN, POSSIBLE, Answers
from lakeguard_sdk.core.enums import BUILT_IN_PROFILES, PolicyType, RunStatus
from lakeguard_sdk.model.definitions import Definitions, PolicyDefinition
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from tests.support.cases.schema_changes import PIECES, rows_after, types_after
from tests.support.lakes.changing_schemas import Things
from tests.support.lakes.drifting_tables import NAME, Drifting
from tests.support.projects.definition_folders import write_folder

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
MOST = max(map(len, POSSIBLE.values()))


def own(number: int) -> Answers:
    """Custom profiles that together use every possible reaction of every class."""
    return {change: may[number % len(may)] for change, may in POSSIBLE.items()}


PROFILES: dict[str, Answers] = {**BUILT_IN, **{f"own{at}": own(at) for at in range(MOST)}}


def test_every_class_every_answer_and_every_profile_has_a_case() -> None:
    assert set(PIECES) == set(SchemaChange) == set(POSSIBLE)
    assert set(BUILT_IN_PROFILES) <= set(PROFILES)
    for change, may in POSSIBLE.items():
        assert {answers[change] for answers in PROFILES.values()} == set(may)
        assert set(PIECES[change].shown) == set(may) - {Reaction.BLOCK}


def project(folder: Path, profile: str) -> Drifting:
    if profile in BUILT_IN:
        return Drifting(folder, profile)
    given = [
        f"{change.lower()}: {answer}"
        for change, answer in PROFILES[profile].items()
        if len(POSSIBLE[change]) > 1
    ]
    return Drifting(folder, profile, f"{{{', '.join(given)}}}")


def described(answers: Answers, changes: set[SchemaChange]) -> dict[SchemaChange, tuple[str, str]]:
    return {change: (PIECES[change].column, str(answers[change])) for change in changes}


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_blocks_and_takes_in_what_it_says(tmp_path: Path, profile: str) -> None:
    made, answers = project(tmp_path, profile), PROFILES[profile]
    is_blocked(made, answers)
    taken = {change for change, answer in answers.items() if answer is not Reaction.BLOCK}
    made.say(taken)
    quarantined = [change for change in taken if answers[change] is Reaction.QUARANTINE_ROW]
    misfits = {10 + at: PIECES[change].misfit for at, change in enumerate(quarantined)}
    odd = {number: row for number, row in misfits.items() if row}
    made.land(taken, {2: {}, **odd})
    result = made.run()
    assert result.version == 2, result.error or result.decision
    assert made.answers() == described(answers, taken)
    assert made.rows() == rows_after(answers, taken)
    assert made.types() == types_after(answers, taken)
    assert made.quarantined(result) == set(odd)
    assert made.client.reader.replay(result.run_id).identical


def is_blocked(made: Drifting, answers: Answers) -> None:
    """All changes at once: each is reported with its reaction, and nothing is staged."""
    before = made.rows()
    made.say(PIECES)
    made.land(PIECES, {2: {}})
    blocked = made.run()
    assert blocked.status is RunStatus.BLOCKED, blocked.error
    assert made.answers() == described(answers, set(PIECES))
    assert not (made.location / "runs" / blocked.run_id).exists()
    assert made.rows() == before
    assert made.client.reader.replay(blocked.run_id).identical


CASTABLE = [change for change, piece in PIECES.items() if piece.misfit]


@pytest.mark.parametrize(
    "change", [change for change in CASTABLE if Reaction.ACCEPT_CAST in POSSIBLE[change]]
)
def test_a_value_that_cannot_be_cast_fails_the_run(tmp_path: Path, change: SchemaChange) -> None:
    profile = next(name for name in PROFILES if PROFILES[name][change] is Reaction.ACCEPT_CAST)
    made = project(tmp_path, profile)
    made.land({change}, {2: {}, 3: PIECES[change].misfit})
    result = made.run()
    assert result.status is RunStatus.FAILED
    assert result.error is not None
    assert PIECES[change].column in result.error.message
    assert set(made.rows()) == {1}


def test_a_policy_blocks_what_its_mode_blocks_whatever_the_profile_says(tmp_path: Path) -> None:
    made = project(tmp_path, "permissive")
    for mode in SCHEMA_MODES:
        policy = PolicyDefinition(
            policy="columns", type=PolicyType.SCHEMA, expression=f"mode {mode}"
        )
        made.client.registry.apply(made.client.registry.plan(Definitions(policies=(policy,))))
        strict = {c: a for c, a in BUILT_IN[mode.lower()].items() if a is Reaction.BLOCK}
        is_blocked(made, {**BUILT_IN["permissive"], **strict})
    assert logged(made) == described({**BUILT_IN["permissive"], **strict}, set(PIECES))


def logged(made: Drifting) -> dict[SchemaChange, tuple[str, str]]:
    """Schema changes of the last run in the lake's ledger."""
    made.client.ledger.sync()
    place = made.folder / "_lakeguard" / "default" / "schema_change_log"
    last = made.client.reader.runs(NAME)[0].run_id
    rows = DeltaTable(str(place)).to_pyarrow_table().to_pylist()
    return {
        SchemaChange(row["change_type"]): (row["column_name"], row["action_taken"])
        for row in rows
        if row["run_id"] == last
    }


PLAIN: dict[str, tuple[pa.DataType, Any]] = {
    "string": (pa.string(), "?"),
    "boolean": (pa.bool_(), True),
    "byte": (pa.int8(), 1),
    "short": (pa.int16(), 1),
    "integer": (pa.int32(), 1),
    "long": (pa.int64(), 1),
    "float": (pa.float32(), 1.5),
    "double": (pa.float64(), 1.5),
    "decimal(9,2)": (pa.decimal128(9, 2), Decimal("1.50")),
    "date": (pa.date32(), date(2026, 1, 2)),
    "timestamp": (pa.timestamp("us", tz="UTC"), datetime(2026, 1, 2, tzinfo=UTC)),
    "timestamp_ntz": (pa.timestamp("us"), datetime.fromisoformat("2026-01-02T00:00")),
    "binary": (pa.binary(), b"\xff"),
}
PAIRS = {f"c{at}": pair for at, pair in enumerate(itertools.permutations(PLAIN, 2))}


@pytest.mark.parametrize("answer", [Reaction.QUARANTINE_ROW, Reaction.ACCEPT_CAST])
def test_any_type_may_come_in_the_place_of_any_other(tmp_path: Path, answer: Reaction) -> None:
    """Values of a type that cannot be cast are misfits; NULL is not."""
    changes = ("widen", "narrow", "decimal_size", "timezone", "incompatible_type")
    given = {change: Reaction.ACCEPT_CAST if change == "narrow" else answer for change in changes}
    listed = ", ".join(f"{change}: {each}" for change, each in given.items())
    own = {"definitions/profiles/own.yaml": f"profile: own\nreactions: {{{listed}}}\n"}
    write_folder(tmp_path, dict(own))
    columns = {name: f'"{declared}"' for name, (_, declared) in PAIRS.items()}
    things = Things(tmp_path, {"id": "long", **columns}, load="APPEND", schema="{profile: own}")
    found = [(name, PLAIN[kind][0]) for name, (kind, _) in PAIRS.items()]
    full = {name: PLAIN[kind][1] for name, (kind, _) in PAIRS.items()}
    quarantined = answer is Reaction.QUARANTINE_ROW
    things.land(
        pa.schema([("id", pa.int64()), *found]), {"id": 1}, *[{"id": 2, **full}] * quarantined
    )
    result = things.run()
    assert result.version == 1, result.error or result.decision
    assert things.rows() == {1: {"id": 1, **dict.fromkeys(PAIRS)}}
    facts = things.client.reader.facts(result.run_id)
    assert facts is not None
    assert facts.rejected == quarantined
