"""Lists, pages, replays and the doctor's findings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import click
import pytest

from lakeguard.cli.commands.operate.doctor import doctor_lines
from lakeguard.cli.rendering.checks import notes_lines
from lakeguard.cli.rendering.replay import replay_lines
from lakeguard.cli.rendering.runs import moves_lines, runs_lines, versions_lines
from lakeguard.cli.rendering.show import DatasetPage, show_lines
from lakeguard.services.doctor import Finding
from lakeguard_sdk.core.enums import RunStatus, TargetFormat
from lakeguard_sdk.model.definitions import TargetDefinition
from lakeguard_sdk.model.evidence import Changes
from lakeguard_sdk.model.read_models import BuildKind, ReplayResult, RunFacts
from tests.support.cases import models


def plain(lines: Iterable[str]) -> list[str]:
    return [click.unstyle(line) for line in lines]


def test_runs() -> None:
    runs = [
        models.run_row(),
        models.run_row(RunStatus.FAILED, error_code="LG-5003", triggered_by="cli:\x1bada"),
        models.run_row(RunStatus.SUCCESS, version=1),
        models.run_row(RunStatus.SUCCESS),
    ]
    assert plain(runs_lines(runs, models.NOW)) == [
        "RUN     DATASET          STATUS      OUTCOME       ENDED     TOOK        BY",
        "run_2   silver.flights   ✗ BLOCKED   see why       5 s ago   1 min 5 s   cli:ada",
        "run_2   silver.flights   ! FAILED    LG-5003       5 s ago   1 min 5 s   cli:\\x1bada",
        "run_2   silver.flights   ✓ SUCCESS   v1            5 s ago   1 min 5 s   cli:ada",
        "run_2   silver.flights   ✓ SUCCESS   nothing new   5 s ago   1 min 5 s   cli:ada",
    ]
    assert runs_lines([], models.NOW) == ["no runs yet"]


def test_versions_newest_first_with_the_published_one_marked() -> None:
    lines = plain(versions_lines([models.version_row(1), models.version_row(2, published=False)]))
    assert lines[1].startswith("v2")
    assert lines[2].startswith("v1        ● published   2026-01-30 12:00:00 UTC   336,000")
    assert "bronze.flights@v1" in lines[2]
    assert versions_lines([]) == ["no versions yet"]


def test_moves_show_reasons_harmlessly() -> None:
    lines = plain(moves_lines([models.move(1, reason="back\x1b[2J")]))
    assert lines[1] == "2026-01-31 12:00:00 UTC   publish   v1   cli:ada   back\\x1b[2J"
    assert moves_lines([]) == ["none yet"]


def page() -> DatasetPage:
    return DatasetPage(
        status=models.status(),
        definition=models.definition(),
        rules=[models.rule_row()],
        runs=[models.run_row()],
        moves=[models.move()],
    )


def test_a_page_has_every_part() -> None:
    text = "\n".join(plain(show_lines(page(), models.NOW)))
    for part in (
        "✓ OK  silver.flights",
        "One row per scheduled departure.",
        "bronze.flights (sql/flights.sql)",
        "APPEND",
        "v1, 336,000 rows since 2026-01-31 09:00:00 UTC",
        "#identifier",
        "unique(flight_key)",
        "1 rule",
        "Last runs",
        "Publications",
    ):
        assert part in text


def test_a_page_says_what_made_the_version() -> None:
    facts = RunFacts(rows=3, changes=Changes(inserted=2, deleted=1), notes={"model": "2026-01"})
    lines = plain(show_lines(replace(page(), facts=facts), models.NOW))
    assert any(line.split() == ["changes", "2", "inserted,", "1", "deleted"] for line in lines)
    at = lines.index("Notes of v1")
    assert lines[at + 1] == "  model   2026-01"
    assert not any(line.startswith("Notes") for line in plain(show_lines(page(), models.NOW)))


def test_a_long_note_is_cut() -> None:
    (line,) = notes_lines({"long": "x" * 9_000})
    assert len(line) < 200


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("adoption", "an adopted table"),
        ("frame", "a program"),
        ("source", "its source"),
        (None, ""),
    ],
)
def test_a_version_without_inputs_says_where_it_is_from(
    kind: BuildKind | None, expected: str
) -> None:
    row = models.version_row(1, inputs=(), built_by=kind)
    (line,) = plain(versions_lines([row]))[1:]
    assert (expected in line) is True
    assert ("program" in line) is (kind == "frame")


def test_a_live_table_is_said_to_have_no_versions() -> None:
    target = TargetDefinition(
        target="serving", location="zones/serving", zone="serving", details={"schema": "reports"},
        format=TargetFormat.POSTGRESQL, url="postgresql://db.example/reports",
    )  # fmt: skip
    text = "\n".join(plain(show_lines(replace(page(), target=target), models.NOW)))
    assert "reports.silver_flights at postgresql://db.example/reports: live, unversioned" in text


def test_an_identical_replay_is_one_line() -> None:
    result = ReplayResult(
        run_id="run_2", decision_id="dec_2", identical=True, recorded="{}", replayed="{}"
    )
    assert plain(replay_lines(result))[0].startswith("✓ IDENTICAL  run_2   2 bytes   sha256:")


def test_a_differing_replay_shows_where() -> None:
    result = ReplayResult(
        run_id="run_2",
        decision_id="dec_2",
        identical=False,
        recorded='{"verdict":"BLOCKED"}',
        replayed='{"verdict":"ALLOWED"}',
    )
    lines = plain(replay_lines(result))
    assert lines[0] == "✗ DIFFERS  run_2"
    assert any(line.startswith("  -") and '"BLOCKED"' in line for line in lines)
    assert lines[-1] == "Next: lakeguard why run_2"


def test_the_doctor_names_the_command_for_what_is_missing() -> None:
    lines = plain(
        doctor_lines(
            [
                Finding(name="Java", ok=True, detail="17"),
                Finding(name="Lake", ok=False, detail="gone", fix="mkdir -p lake"),
            ]
        )
    )
    assert lines == [
        "✓   Java   17",
        "✗   Lake   gone",
        "",
        "1 check failed",
        "Next: mkdir -p lake",
    ]
    assert doctor_lines([])[-1] == "All checks passed."
