"""``quarantine``: what is said on the terminal, and what a wrong call gets."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from lakeguard.cli.rendering.quarantine import balance_line, listing_lines
from lakeguard.cli.terminal.output import Screen
from lakeguard.services.next_commands import replay_command
from lakeguard_sdk.core.enums import HashStrategy, LoadType
from lakeguard_sdk.model.definitions import ColumnDefinition
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.quarantine import (
    QuarantineBalance,
    QuarantineListing,
    QuarantineSelection,
    ReplayParameters,
)
from tests.support.lakes.quarantined_by_hand import LARGE, NEGATIVE, ByHand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.shell import Shell


@pytest.fixture
def world(tmp_path: Path) -> ByHand:
    made = ByHand.project(tmp_path / "lake")
    made.run([1, 2, -3, 400])
    return made


@pytest.fixture
def place(tmp_path: Path) -> tuple[object, ...]:
    return ("--project", tmp_path / "lake")


def test_what_waits_is_listed_with_its_account(
    shell: Shell, world: ByHand, place: tuple[object, ...]
) -> None:
    result = shell("quarantine", "list", *place)
    assert result.code == 0, result.err
    run_id = world.client.reader.versions(NUMBERS)[0].run_id
    first, second = [line.split() for line in result.out.splitlines()[1:3]]
    assert first[:4] == [NUMBERS, run_id, NEGATIVE, "1"]
    assert second[:4] == [NUMBERS, run_id, LARGE, "1"]
    assert "QUARANTINED" in result.out
    assert "2 rows in quarantine" in result.out
    assert f"Next: lakeguard quarantine show {NUMBERS}" in result.out
    account = "4 read = 2 published + 2 quarantined + 0 discarded + 0 malformed"
    assert result.out.splitlines()[-1] == f"{NUMBERS} v1: {account}"
    data = shell("quarantine", "list", NUMBERS, "--json", *place).data
    assert [(row["rule_id"], row["rows"]) for row in data["quarantine"]] == [
        (NEGATIVE, 1),
        (LARGE, 1),
    ]
    assert (data["quarantined"], data["balances"][0]["adds_up"]) == (2, True)


def test_what_does_not_wait_any_more_is_listed_where_asked(
    shell: Shell, world: ByHand, place: tuple[object, ...]
) -> None:
    gone = shell("quarantine", "discard", NUMBERS, "--rule", LARGE, "--reason", "test data", *place)
    assert gone.code == 0, gone.err
    assert f"✓ DISCARDED  {NUMBERS}   1 row" in gone.out
    assert "1 quarantined + 1 discarded" in gone.out
    assert LARGE not in shell("quarantine", "list", *place).out
    listed = shell("quarantine", "list", "--all", *place).out
    assert "DISCARDED" in listed
    assert "test data" in listed


def test_rows_are_shown(shell: Shell, world: ByHand, place: tuple[object, ...]) -> None:
    result = shell("quarantine", "show", NUMBERS, "--rule", NEGATIVE, *place)
    assert result.code == 0, result.err
    assert result.out.splitlines()[1].startswith("-3 ")
    assert not any(line.startswith("400") for line in result.out.splitlines())
    data = shell("quarantine", "show", NUMBERS, "--limit", "1", "--json", *place).data
    assert (len(data["rows"]), data["quarantined"]) == (1, 2)
    none = shell("quarantine", "show", NUMBERS, "--rule", "other", *place)
    assert (none.code, "LG-1501" in none.err) == (2, True)
    assert "numbers under other\nNext: lakeguard quarantine list" in none.err


def test_the_next_step_is_one_that_works(shell: Shell, tmp_path: Path) -> None:
    place = ("--project", tmp_path / "lake")
    by_key = Load(type=LoadType.INCREMENTAL, keys=("n",))
    ByHand.project(tmp_path / "lake", by_key).run([1, -3])
    result = shell("quarantine", "show", NUMBERS, "--rule", NEGATIVE, *place).out.splitlines()
    assert result[-2].startswith("A replay is refused: without order_by it is not known")
    again = f"lakeguard quarantine replay {NUMBERS} --rule {NEGATIVE}"
    assert result[-1] == f"Next: {again} --as-newest"
    ByHand.project(tmp_path / "plain").run([1, -3])
    plain = shell(
        "quarantine", "show", NUMBERS, "--rule", NEGATIVE, "--project", tmp_path / "plain"
    )
    assert plain.out.splitlines()[-1] == f"Next: {again}"


def test_what_only_a_run_can_read_is_left_to_it(shell: Shell, tmp_path: Path) -> None:
    load = Load(type=LoadType.FULL, keys=("n",), hash=HashStrategy.KEY_HASH)
    ByHand.project(tmp_path / "lake", load).run([1, -3])
    result = shell("quarantine", "show", NUMBERS, "--project", tmp_path / "lake")
    assert result.out.splitlines()[-1] == f"Next: lakeguard run {NUMBERS}"


def test_a_header_is_as_wide_as_its_rows() -> None:
    names = tuple(f"column_{number}" for number in range(8))
    listed = QuarantineListing(
        dataset=NUMBERS, columns=names, rows=(("x" * 9,) * 8,), quarantined=1
    )
    for width in (40, 60):
        head, row, *_ = map(
            click.unstyle, listing_lines(listed, Screen(width), QuarantineSelection())
        )
        assert (len(head), len(row)) == (width, width)


def test_one_row_is_one(shell: Shell, tmp_path: Path) -> None:
    ByHand.project(tmp_path / "lake").run([1, -3])
    why = shell("why", NUMBERS, "--project", tmp_path / "lake").out
    assert "quarantined   1 row" in why


def test_a_tagged_value_is_told_nowhere(shell: Shell, tmp_path: Path) -> None:
    tagged = ColumnDefinition(name="n", type="long", tags=("salary",))
    ByHand.project(tmp_path / "lake", columns=(tagged,)).run([1, -987654])
    for form in ((), ("--json",)):
        result = shell("quarantine", "show", NUMBERS, *form, "--project", tmp_path / "lake")
        assert (result.code, "***" in result.out, "987654" in result.out) == (0, True, False)


def test_other_commands_say_what_was_quarantined(
    shell: Shell, world: ByHand, place: tuple[object, ...]
) -> None:
    run_id = world.client.reader.versions(NUMBERS)[0].run_id
    status = shell("status", *place).out
    assert f"quarantine: {NUMBERS}  2 rows, oldest" in status
    assert f"lakeguard quarantine list {NUMBERS}" in status
    why = shell("why", NUMBERS, *place).out
    assert "quarantined   2 rows" in why
    assert f"quarantine show {NUMBERS} --run {run_id}" in why
    versions = shell("versions", NUMBERS, *place).out
    assert "QUARANTINED" in versions.splitlines()[0]
    assert f"Next: lakeguard why {run_id}" in versions


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["discard", NUMBERS, "--reason", " "], 2, "it needs a reason"),
        (["discard", NUMBERS], 2, "--reason"),
        (["discard", NUMBERS, "--rule", "x", "--reason", "y"], 2, "numbers under x"),
        (["replay", NUMBERS, "--run", "run_x"], 2, "numbers of run run_x"),
        (["list", "bronze.nothing"], 2, "bronze.nothing"),
        (["show", NUMBERS, "--limit", "0"], 2, "--limit"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    shell: Shell,
    world: ByHand,
    place: tuple[object, ...],
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    result = shell("quarantine", *arguments, *place)
    assert (result.code, message in result.err) == (code, True), result.err


def test_nothing_waits(shell: Shell, tmp_path: Path) -> None:
    ByHand.project(tmp_path / "lake").run([1])
    result = shell("quarantine", "list", "--project", tmp_path / "lake")
    assert (result.code, result.out) == (0, "no rows in quarantine\n")


def test_an_account_that_does_not_add_up_says_so() -> None:
    reported = balance_line(QuarantineBalance(dataset=NUMBERS, version=1, read=3, published=1))
    assert "DOES NOT ADD UP" in reported
    assert reported.endswith("next: lakeguard verify")


def test_the_same_replay_can_be_typed_again() -> None:
    order = ReplayParameters(
        choice=QuarantineSelection(runs=("run_1",), rules=("a b",)), as_newest=True
    )
    assert replay_command(NUMBERS, order) == (
        f"lakeguard quarantine replay {NUMBERS} --run run_1 --rule 'a b' --as-newest"
    )
