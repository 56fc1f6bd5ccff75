"""Files of records: a folder for each target, none of two, and none elsewhere."""

from __future__ import annotations

from itertools import product

import pytest

from lakeguard.records.files.names import record_file, records_root, target_folder
from lakeguard_sdk.records.record import MetadataTarget
from lakeguard_sdk.testing.record_samples import volume

ODD = (
    *("a", "A", "a.b", "..", ".", "/", "a/b", "\\", "%2e", "%", "~", "con", "aux.x", " ", "c:"),
    *("nul", "é", "e\u0301", "ß", "ss", "x" * 255, "x" * 254, "日本" * 60),
)


def test_the_layout_is_that_of_the_seed() -> None:
    target = MetadataTarget(source_id="Itcftth", schema_="srv", table="cfsver_ct_main")
    record = volume("run-123", target=target)
    name = record_file(record.record_id(), record.data)
    folder, _, file = name.rpartition("/")
    assert folder == "ingestion_volume/itcftth.srv.cfsver_ct_main"
    assert file.startswith("2026-01-01T00:00:00.000000Z_run-123.")
    assert file.endswith(".json")


def test_no_two_targets_share_a_folder() -> None:
    targets: dict[str, str] = {}
    for source, schema, table in product(ODD, ("", *ODD), ODD):
        target = MetadataTarget(source_id=source, schema_=schema, table=table)
        folder = target_folder(target)
        assert targets.setdefault(folder, target.key) == target.key
        assert folder == folder.lower()
        assert set(folder) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-.%~")
        assert folder.split(".")[0] not in ("", "con", "nul", "aux")
        assert len(folder) <= 180


@pytest.mark.parametrize("run", ["../../x", "/etc", "a" * 255, "run 1", "é", "."])
def test_no_run_leads_out_of_the_folder(run: str) -> None:
    record = volume(run, version=3)
    name = record_file(record.record_id(), record.data)
    assert name.count("/") == 2
    assert ".." not in name.split("/")
    assert len(name.rpartition("/")[2]) < 200
    assert name.endswith(".v3.json")


def test_facts_of_one_run_have_files_of_their_own() -> None:
    records = [volume("Run"), volume("run"), volume("run", namespace="team"), volume(version=2)]
    names = {record_file(each.record_id(), each.data).lower() for each in records}
    assert len(names) == len(records)


def test_an_organisation_has_a_folder_of_its_own() -> None:
    assert records_root("lake", "default") == "lake/metadata/default"
    assert records_root("lake", "../x") == "lake/metadata/%2e%2e%2fx"
