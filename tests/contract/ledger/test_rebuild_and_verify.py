"""A lake with a history, its State lost: made again on each kind of database, and proven there."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

from lakeguard.relay.rebuild import Rebuild
from lakeguard.relay.rows import state_rows
from lakeguard.relay.tables import derived_tables, fact_tables
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.core.canonical_json import content_hash
from tests.support.databases.databases import KINDS, discard, fresh_database
from tests.support.lakes.verified_lakes import ORG, ProvenLake, make_proven_lake
from tests.support.projects.planes import NUMBERS


def hashes(database: Database) -> dict[str, str]:
    """One hash per table and view, whatever order its rows come in."""
    with OrganisationState.of(database, ORG).read() as tx:
        held = {
            table.name: state_rows(tx, table, table.source.c.org_id == ORG)
            for table in (*fact_tables().values(), *derived_tables().values())
        }
    return {name: content_hash(sorted(map(list, rows), key=repr)) for name, rows in held.items()}


def source_files(lake: ProvenLake) -> list[str]:
    """What the published version has read; the version that was rolled back read another one."""
    reader = lake.client.reader
    return sorted(
        file.path for file in reader.source_file_page(reader.dataset(NUMBERS).dataset_id, 4)
    )


def test_both_kinds_hold_the_same_and_are_proven(tmp_path: Path) -> None:
    first = fresh_database("sqlite", tmp_path)
    made = make_proven_lake(first, tmp_path / "lake")
    before, published = hashes(first), made.client.reader.versions(NUMBERS)
    discard(first)
    for kind in KINDS:
        folder = tmp_path / f"lake on {kind}"
        shutil.copytree(tmp_path / "lake", folder)
        database = fresh_database(kind, tmp_path)
        Rebuild(OrganisationState.of(database, ORG, lambda: datetime.now(UTC)), str(folder)).run()
        again = ProvenLake(database, folder)
        assert hashes(database) == before, kind
        assert again.verify(replay=True).findings == (), kind
        assert again.client.reader.versions(NUMBERS) == published
        assert source_files(again) == ["numbers/1.csv", "numbers/3.csv", "numbers/6.csv"]
        discard(database)
