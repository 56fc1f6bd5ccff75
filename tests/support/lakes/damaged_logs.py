"""Ways to damage a Delta log: entries that nobody may write, and entries that nobody can read."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from lakeguard.cli.rendering.status import Badge, badge_of
from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import LoadType
from tests.support.lakes.foreign_numbers import (
    number_far_ahead,
    number_set_back,
    number_set_back_by_a_copy,
    number_with_other_commits,
    repeated_key,
    two_numbers,
)
from tests.support.lakes.log_entries import (
    actions_of,
    commit_file,
    foreign_commit,
    head_of,
    next_commit,
)
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.projects import numbers_project

Damage = Callable[[Path], None]
"""Damages the log in that folder."""


def three_versions(folder: Path) -> Client:
    """A project whose table has three versions of one number each, copied from one that is made
    once."""
    shutil.copytree(_original(), folder)
    return connect(folder)


@cache
def _original() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="three-versions-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    numbers_project(folder, LoadType.APPEND).close()
    with connect(folder) as made:
        for number in (1, 2, 3):
            run_by_hand(made, [number])
    return folder


def log_of(client: Client) -> Path:
    return Path(client.lake) / "bronze" / "numbers" / "_delta_log"


def status(client: Client) -> tuple[Badge, str]:
    (found,) = client.reader.status()
    return badge_of(found), found.damage


def hint_to_parts(log: Path) -> None:
    DeltaTable(str(log.parent)).create_checkpoint()
    hint = {"version": head_of(log), "size": 3, "parts": 2}
    (log / "_last_checkpoint").write_text(json.dumps(hint))


def wrong_hidden_checksum(log: Path) -> None:
    (log / f".{head_of(log):020d}.json.crc").write_bytes(b"crc\0\0\0\2\0aaaa")


def refused_by_engines(log: Path) -> None:
    """Changes no data, but no engine reads it."""
    next_commit(log).write_text('{"txn": {"appId": "x", "version": "y"}}')


def gap(log: Path) -> None:
    commit_file(log, head_of(log) + 5).write_text(foreign_commit())


def unreadable_gap(log: Path) -> None:
    commit_file(log, head_of(log) + 5).write_text("{")


def short_name(log: Path) -> None:
    (log / f"{head_of(log) + 1}.json").write_text(foreign_commit())


def empty_commit(log: Path) -> None:
    next_commit(log).touch()


def blank_commit(log: Path) -> None:
    next_commit(log).write_text("\n\n")


def truncated_commit(log: Path) -> None:
    data = commit_file(log, head_of(log)).read_bytes()
    next_commit(log).write_bytes(data[: len(data) // 2])


def text_commit(log: Path) -> None:
    next_commit(log).write_text("hello")


def list_commit(log: Path) -> None:
    next_commit(log).write_text("[1, 2]")


def odd_actions_commit(log: Path) -> None:
    next_commit(log).write_text('{"add": 7}')


def binary_commit(log: Path) -> None:
    next_commit(log).write_bytes(bytes(range(256)))


def folder_commit(log: Path) -> None:
    next_commit(log).mkdir()


def link_commit(log: Path) -> None:
    next_commit(log).symlink_to(commit_file(log, head_of(log)))


def dangling_commit(log: Path) -> None:
    next_commit(log).symlink_to("nowhere")


def empty_head(log: Path) -> None:
    commit_file(log, head_of(log)).write_bytes(b"")


def truncated_head(log: Path) -> None:
    head = commit_file(log, head_of(log))
    head.write_bytes(head.read_bytes()[:-40])


def folder_head(log: Path) -> None:
    head = commit_file(log, head_of(log))
    head.unlink()
    head.mkdir()
    (head / "x").touch()


def dangling_head(log: Path) -> None:
    head = commit_file(log, head_of(log))
    head.unlink()
    head.symlink_to("nowhere")


def linked_head(log: Path) -> None:
    head = commit_file(log, head_of(log))
    shutil.move(head, log.parent / "elsewhere")
    head.symlink_to(log.parent / "elsewhere")


def lost_head(log: Path) -> None:
    commit_file(log, head_of(log)).unlink()


def lost_middle(log: Path) -> None:
    commit_file(log, head_of(log) - 1).unlink()


def hint_beyond(log: Path) -> None:
    (log / "_last_checkpoint").write_text('{"version":99,"size":3}')


def hint_to_nothing(log: Path) -> None:
    (log / "_last_checkpoint").write_text(json.dumps({"version": head_of(log), "size": 3}))


def hint_text(log: Path) -> None:
    (log / "_last_checkpoint").write_text("{")


def hint_empty(log: Path) -> None:
    (log / "_last_checkpoint").touch()


def hint_binary(log: Path) -> None:
    (log / "_last_checkpoint").write_bytes(bytes(range(256)))


def hint_folder(log: Path) -> None:
    (log / "_last_checkpoint").mkdir()


def broken_checkpoint(log: Path) -> None:
    (log / f"{head_of(log):020d}.checkpoint.parquet").write_bytes(b"PAR1")
    hint_to_nothing(log)


def quiet_broken_checkpoint(log: Path) -> None:
    (log / f"{head_of(log):020d}.checkpoint.parquet").write_bytes(b"PAR1")


def checkpoint_beyond(log: Path) -> None:
    DeltaTable(str(log.parent)).create_checkpoint()
    head = head_of(log)
    checkpoint = log / f"{head:020d}.checkpoint.parquet"
    checkpoint.rename(log / f"{head + 7:020d}.checkpoint.parquet")
    (log / "_last_checkpoint").write_text(json.dumps({"version": head + 7, "size": 3}))


def folder_checkpoint(log: Path) -> None:
    (log / f"{head_of(log):020d}.checkpoint.parquet").mkdir()


def part_of_a_checkpoint(log: Path) -> None:
    DeltaTable(str(log.parent)).create_checkpoint()
    head = f"{head_of(log):020d}"
    part = log / f"{head}.checkpoint.{1:010d}.{2:010d}.parquet"
    shutil.copy(log / f"{head}.checkpoint.parquet", part)


def checkpoint_with_sidecars(log: Path) -> None:
    (log / "_sidecars").mkdir()
    (log / "_sidecars" / "x.parquet").write_bytes(b"PAR1")
    sidecar = {"path": "x.parquet", "sizeInBytes": 4, "modificationTime": 1}
    head = f"{head_of(log):020d}"
    name = f"{head}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"
    (log / name).write_text(foreign_commit(checkpointMetadata={"version": 3}, sidecar=sidecar))


def other_table_id(log: Path) -> None:
    first = commit_file(log, 0)
    old = actions_of(log, 0, "metaData")["id"]
    first.write_text(first.read_text().replace(old, "11111111-1111-1111-1111-111111111111"))


def later_table_id(log: Path) -> None:
    metadata = {**actions_of(log, 0, "metaData"), "id": "11111111-1111-1111-1111-111111111111"}
    next_commit(log).write_text(foreign_commit(metaData=metadata))


def upgraded_protocol(log: Path) -> None:
    features = ["deletionVectors"]
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7}
    next_commit(log).write_text(
        foreign_commit(
            protocol={**protocol, "readerFeatures": features, "writerFeatures": features}
        )
    )


def unknown_protocol(log: Path) -> None:
    features = ["fromTheFuture"]
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7}
    next_commit(log).write_text(
        foreign_commit(
            protocol={**protocol, "readerFeatures": features, "writerFeatures": features}
        )
    )


def protocol_of_the_first(log: Path) -> None:
    first = commit_file(log, 0)
    first.write_text(first.read_text().replace('"minReaderVersion":1', '"minReaderVersion":9'))


def broken_crc(log: Path) -> None:
    (log / f"{head_of(log):020d}.crc").write_text("{")


def folder_crc(log: Path) -> None:
    (log / f"{head_of(log):020d}.crc").mkdir()


def broken_compacted(log: Path) -> None:
    (log / f"{1:020d}.{head_of(log):020d}.compacted.json").write_text("{")


def compacted_beyond(log: Path) -> None:
    head = head_of(log)
    (log / f"{head:020d}.{head + 4:020d}.compacted.json").write_text(foreign_commit())


def lost_first(log: Path) -> None:
    commit_file(log, 0).unlink()


def lost_log(log: Path) -> None:
    shutil.rmtree(log)


def file_for_a_log(log: Path) -> None:
    shutil.rmtree(log)
    log.write_text("hello")


def link_for_a_log(log: Path) -> None:
    shutil.rmtree(log)
    log.symlink_to("nowhere")


def file_where_entries_are_kept(log: Path) -> None:
    (log / ".undone").write_text("hello")
    gap(log)


LOST = (lost_head, lost_middle, lost_first, lost_log)
DAMAGES: tuple[Damage, ...] = (
    gap,
    unreadable_gap,
    short_name,
    empty_commit,
    blank_commit,
    truncated_commit,
    text_commit,
    list_commit,
    odd_actions_commit,
    binary_commit,
    folder_commit,
    link_commit,
    dangling_commit,
    empty_head,
    truncated_head,
    folder_head,
    dangling_head,
    linked_head,
    hint_beyond,
    hint_to_nothing,
    hint_text,
    hint_empty,
    hint_binary,
    hint_folder,
    hint_to_parts,
    wrong_hidden_checksum,
    refused_by_engines,
    broken_checkpoint,
    quiet_broken_checkpoint,
    checkpoint_beyond,
    folder_checkpoint,
    part_of_a_checkpoint,
    checkpoint_with_sidecars,
    other_table_id,
    later_table_id,
    upgraded_protocol,
    unknown_protocol,
    protocol_of_the_first,
    number_far_ahead,
    number_set_back,
    number_set_back_by_a_copy,
    number_with_other_commits,
    two_numbers,
    repeated_key,
    broken_crc,
    folder_crc,
    broken_compacted,
    compacted_beyond,
    *LOST,
    file_for_a_log,
    link_for_a_log,
    file_where_entries_are_kept,
)
_QUICK = (
    gap,
    truncated_commit,
    folder_commit,
    hint_beyond,
    other_table_id,
    upgraded_protocol,
    number_far_ahead,
)


def cases(later: pytest.MarkDecorator) -> list[Any]:
    """A few for ``make test``, the others with a mark."""
    return [
        pytest.param(damage, id=damage.__name__, marks=() if damage in _QUICK else later)
        for damage in DAMAGES
    ]
