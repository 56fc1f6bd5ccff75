"""Checksum files agree with their file as Hadoop compares them."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from lakeguard_sdk.storage.checksum_files import (
    checksum_file,
    remove_wrong_checksum_files,
    wrong_checksum_file,
)

PART = 512


def written(folder: Path, size: int) -> Path:
    """A file with its checksum file, as Hadoop writes it."""
    file = folder / "part.parquet"
    data = bytes(number % 251 for number in range(size))
    file.write_bytes(data)
    sums = (zlib.crc32(data[at : at + PART]).to_bytes(4, "big") for at in range(0, size, PART))
    checksum_file(str(file)).write_bytes(b"crc\0" + PART.to_bytes(4, "big") + b"".join(sums))
    return file


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("size", [0, 1, PART, PART + 1, PART * 4096, PART * 8192 + 7])
def test_an_honest_one_agrees(tmp_path: Path, size: int, whole: bool) -> None:
    file = written(tmp_path, size)
    assert wrong_checksum_file(str(file), whole=whole) is None
    assert remove_wrong_checksum_files(str(tmp_path), [file.name], {file.name}) == []
    assert checksum_file(str(file)).exists()


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("body", [b"", b"crc", b"crc\0", b"crc\0\0\0\0\0", b"x" * 100])
def test_what_hadoop_cannot_read_is_wrong(tmp_path: Path, body: bytes, whole: bool) -> None:
    file = written(tmp_path, 1_000)
    checksum_file(str(file)).write_bytes(body)
    assert "undo removes it" in str(wrong_checksum_file(str(file), whole=whole))


@pytest.mark.parametrize(("at", "found"), [(0, True), (5_000, False), (8_192, True)])
def test_sums_in_between_are_compared_on_request(tmp_path: Path, at: int, found: bool) -> None:
    file = written(tmp_path, PART * 8192 + 7)
    beside = checksum_file(str(file))
    sums = bytearray(beside.read_bytes())
    sums[8 + at * 4] ^= 1
    beside.write_bytes(sums)
    assert (wrong_checksum_file(str(file), whole=False) is not None) is found
    assert wrong_checksum_file(str(file), whole=True) is not None
    assert remove_wrong_checksum_files(str(tmp_path), ["gone", file.name], {file.name}) == [
        file.name
    ]
    assert not beside.exists()


def test_no_file_is_needed(tmp_path: Path) -> None:
    file = written(tmp_path, 10)
    checksum_file(str(file)).unlink()
    assert wrong_checksum_file(str(file), whole=True) is None
