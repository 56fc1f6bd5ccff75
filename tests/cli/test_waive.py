"""``waive`` and ``waivers``: what is said on the terminal, and what a wrong call gets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lakeguard.cli.commands.build.waivers import end_of
from tests.support.projects.shell import Shell

DATASET, CHECK = "silver.orders", "unique.order_id"
SOON = str(datetime.now(UTC).date() + timedelta(days=5))


@pytest.fixture
def applied(shell: Shell, tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    assert shell("init", folder, "--example").code == 0
    assert shell("apply", "--project", folder).code == 0
    return folder


def words(until: str = SOON, approver: str = "Ada") -> list[str]:
    return ["--until", until, "--reason", "late feed", "--approver", approver]


def test_a_waiver_is_granted_listed_and_taken_back(shell: Shell, applied: Path) -> None:
    place = ("--project", applied)
    assert shell("waivers", *place).out == "no waivers\n"
    result = shell("waive", DATASET, CHECK, *words(), *place)
    assert result.code == 0, result.err
    assert f"! WAIVED  {DATASET}" in result.out
    (row,) = shell("waivers", DATASET, "--json", *place).data["waivers"]
    assert (row["waiver"]["approver"], row["waiver"]["check_kind"]) == ("Ada", "rule")
    listed = shell("waivers", *place).out
    assert "ACTIVE" in listed
    assert "late feed" in listed
    waiver = row["waiver"]["waiver_id"]
    assert waiver in result.out, "the next command takes it back"
    back = shell("waivers", "--revoke", waiver, "--reason", "fixed", *place)
    assert back.code == 0, back.err
    assert "REVOKED" in back.out
    assert shell("waivers", *place).out == "no waivers\n"
    assert "REVOKED" in shell("waivers", "--all", *place).out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["waive", DATASET, "uniqe.order_id", *words()], 2, "did you mean unique.order_id?"),
        (["waive", DATASET, CHECK, *words("2020-01-01")], 2, "not in the future"),
        (["waive", DATASET, CHECK, *words("2999-01-01")], 2, "longer than 90 days"),
        (["waive", DATASET, CHECK, *words("soon")], 2, "write a day such as"),
        (["waive", DATASET, CHECK, *words(f"{SOON}T10:00")], 2, "a time needs its zone"),
        (["waive", DATASET, CHECK, *words(approver=" ")], 2, "it needs an approver"),
        (["waive", "gold.revenue_daily", "no_pii_in_gold", *words()], 3, "have no exceptions"),
        (["waive", "gold.nothing", CHECK, *words()], 2, "gold.nothing"),
        (["waivers", "--revoke", "wvr_x"], 2, "--revoke needs --reason"),
        (["waivers", "--reason", "x"], 2, "--reason goes with --revoke"),
        (["waivers", "--revoke", "wvr_x", "--reason", "x"], 2, "no waiver wvr_x is in force"),
    ],
)
def test_what_cannot_be_waived_is_refused_in_words(
    shell: Shell, applied: Path, arguments: list[str], code: int, message: str
) -> None:
    result = shell(*arguments, "--project", applied)
    assert (result.code, result.out) == (code, "")
    assert message in result.err


def test_a_day_is_waived_to_its_end() -> None:
    assert end_of("2027-01-31") == datetime(2027, 2, 1, tzinfo=UTC)
    assert end_of("2027-01-31T18:00+01:00") == datetime(2027, 1, 31, 17, tzinfo=UTC)
