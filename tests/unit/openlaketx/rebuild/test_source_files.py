"""Files of a source, gathered for a rebuild: below its own place, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.evidence import Evidence, SourcePosition
from lakeguard_sdk.model.history import RebuildPlan
from lakeguard_sdk.model.run import SchemaVerdict, SourceBuild
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.extract.files.manifest import Selection, select_files
from openlaketx.rebuild import gather_source
from tests.support.lakes.plans import DATASET, csv, plan, schema

COLUMNS = schema(a="string")
STORAGE = LocalStorage()


def selected(pattern: str, root: Path) -> Selection:
    return select_files(
        source="orders",
        dataset=DATASET,
        pattern=pattern,
        root=str(root),
        load=LoadType.FULL,
        known=None,
        storage=STORAGE,
    )


def rebuild_of(lake: Path, pattern: str) -> RebuildPlan:
    """A run that read all that the pattern finds now."""
    evidence = Evidence(
        run_id="run_1",
        dataset=DATASET,
        table_schema=COLUMNS,
        rows=1,
        table_rows=1,
        files=(),
        removes=(),
        base_commit=None,
        measures={},
        inputs=(),
        position=SourcePosition(files=selected(pattern, lake).files),
        build_hash="sha256:0",
        engine="tests",
    )
    verdict = SchemaVerdict(accepted=True, differences=())
    return RebuildPlan(run=plan(lake, csv(pattern), COLUMNS), verdict=verdict, evidence=evidence)


def gathered(lake: Path, place: Path, pattern: str) -> SourceBuild:
    made = rebuild_of(lake, pattern)
    assert isinstance(made.run.build, SourceBuild)
    build, _ = gather_source(made, made.run.build, str(lake), place, STORAGE)
    return build


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    made = tmp_path / "company" / "lake"
    (made / ".rebuild-x" / "lake").mkdir(parents=True)
    return made


def contents(build: SourceBuild, place: Path) -> list[str]:
    files = selected(build.path, place).files
    return [Path(place, file.path).read_text() for file in files]


def test_a_source_above_the_lake_touches_no_file_of_the_lake(lake: Path) -> None:
    """By its own name it would be put over the lake's folder of the same name."""
    far = lake.parent.parent / "exports"
    for folder, text in ((far, "theirs"), (lake / "exports", "ours")):
        folder.mkdir()
        (folder / "o.csv").write_text(text)
    place = lake / ".rebuild-x" / "lake"
    assert contents(gathered(lake, place, "../../exports/*.csv"), place) == ["theirs"]
    assert (lake / "exports" / "o.csv").read_text() == "ours"
    assert sorted(path.name for path in lake.iterdir()) == [".rebuild-x", "exports"]


def test_files_of_one_name_and_of_any_place_stay_apart_and_in_order(lake: Path) -> None:
    for folder in ("9", "10", "1[0]"):
        (lake / "in" / folder).mkdir(parents=True)
        (lake / "in" / folder / "o.csv").write_text(folder)
    place = lake / ".rebuild-x" / "lake"
    assert contents(gathered(lake, place, "in/*/o.csv"), place) == ["1[0]", "9", "10"]
    elsewhere = place / "absolute"
    elsewhere.mkdir()
    assert contents(gathered(lake, elsewhere, f"{lake}/in/9/*.csv"), elsewhere) == ["9"]


def test_a_link_is_read_where_it_leads(lake: Path) -> None:
    (lake / "in").mkdir()
    (lake / "kept.csv").write_text("kept")
    (lake / "in" / "o.csv").symlink_to("../kept.csv")
    place = lake / ".rebuild-x" / "lake"
    assert contents(gathered(lake, place, "in/*.csv"), place) == ["kept"]


def test_gathered_files_are_copies_with_one_name(lake: Path) -> None:
    """A file with several names may not be read, also by a run at the same time."""
    (lake / "in").mkdir()
    origin = lake / "in" / "o.csv"
    origin.write_text("kept")
    place = lake / ".rebuild-x" / "lake"
    build = gathered(lake, place, "in/*.csv")
    assert contents(build, place) == ["kept"]
    copy = next(place.rglob("o.csv"))
    assert (copy.stat().st_nlink, origin.stat().st_nlink) == (1, 1)
    assert copy.stat().st_mtime_ns == origin.stat().st_mtime_ns


def test_what_is_there_already_is_never_written_over(lake: Path) -> None:
    (lake / "in").mkdir()
    (lake / "in" / "o.csv").write_text("kept")
    place = lake / ".rebuild-x" / "lake"
    gathered(lake, place, "in/*.csv")
    (lake / "in" / "o.csv").write_text("another")
    with pytest.raises(FileExistsError):
        gathered(lake, place, "in/*.csv")
