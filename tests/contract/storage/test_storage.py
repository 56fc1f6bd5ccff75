"""One suite for every storage: local folders here, object stores in ``tests/cloud``, and staging
areas of a lake in one."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lakeguard_sdk.storage.storage import Storage, below, join, storage_for


@pytest.fixture
def root(tmp_path: Path) -> str:
    return str(tmp_path / "lake")


@pytest.fixture
def storage(root: str) -> Storage:
    return storage_for(root)


def test_what_is_written_is_read_back_whole(storage: Storage, root: str) -> None:
    place = join(root, "a", "one.json")
    storage.replace(place, b"first")
    storage.replace(place, b"second time")
    assert storage.read_bytes(place) == b"second time"
    assert storage.facts(place).size == 11
    assert storage.facts(place).path == place
    assert storage.sha256(place) == hashlib.sha256(b"second time").hexdigest()


def test_what_is_missing_is_told(storage: Storage, root: str) -> None:
    place = join(root, "none")
    assert not storage.exists(place)
    assert not storage.has_files(place)
    assert not storage.is_regular(place)
    for read in (storage.read_bytes, storage.facts, storage.mark, storage.sha256):
        with pytest.raises(FileNotFoundError):
            read(place)
    assert not storage.move(place, join(root, "other"))


def test_a_folder_is_there_while_it_has_files(storage: Storage, root: str) -> None:
    storage.replace(join(root, "a", "b", "c"), b"x")
    storage.replace(join(root, "ab"), b"x")
    assert storage.has_files(join(root, "a"))
    assert storage.names_in(root) == ["a", "ab"]
    found = [below(facts.path, root) for facts in storage.files_under(join(root, "a"))]
    assert found == ["a/b/c"]


def test_one_of_many_creators_wins(storage: Storage, root: str) -> None:
    for number in range(3):
        place = join(root, f"new-{number}")
        bodies = [f"{writer} wrote this".encode() for writer in range(8)]
        with ThreadPoolExecutor(8) as pool:
            won = list(pool.map(lambda body, place=place: storage.create(place, body), bodies))
        assert sum(won) == 1
        assert storage.read_bytes(place) == bodies[won.index(True)]


def test_an_update_replaces_what_was_seen_and_nothing_else(storage: Storage, root: str) -> None:
    place = join(root, "plane.json")
    assert storage.create(place, b"one")
    seen = storage.mark(place)
    assert storage.update(place, b"two", seen)
    assert not storage.update(place, b"three", seen)
    assert storage.read_bytes(place) == b"two"


def test_a_mark_changes_with_the_content(storage: Storage, root: str) -> None:
    place = join(root, "file")
    storage.replace(place, b"12345")
    before = storage.mark(place)
    assert storage.mark(place) == before
    storage.replace(place, b"54321")
    assert storage.mark(place) != before


def test_parts_of_a_file_are_read_alone(storage: Storage, root: str) -> None:
    place = join(root, "file")
    content = bytes(range(256)) * 2000
    storage.replace(place, content)
    assert storage.read_end(place, 10) == (content[-10:], len(content))
    assert storage.read_end(place, len(content) + 5) == (content, len(content))
    assert storage.read_range(place, 1000, 24) == content[1000:1024]
    with storage.open(place) as file:
        file.seek(-300, 2)
        assert file.read(100) == content[-300:-200]
        file.seek(70_000)
        assert file.read(5) == content[70_000:70_005]
        assert file.tell() == 70_005
        file.seek(0)
        assert file.read() == content


def test_a_file_is_moved_linked_and_removed(storage: Storage, root: str) -> None:
    place, second, third = (join(root, name) for name in ("a/one", "b/two", "c/three"))
    storage.replace(place, b"content")
    storage.link(place, second)
    assert storage.move(second, third)
    assert not storage.exists(second)
    storage.remove(place, root)
    assert not storage.exists(place)
    assert storage.read_bytes(third) == b"content"


def test_a_local_file_is_uploaded_in_parts_if_it_is_large(
    storage: Storage, root: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("upload") / "large"
    file.write_bytes(b"0123456789abcdef" * (40 << 16))
    place = join(root, "large")
    storage.upload(file, place)
    storage.make_durable(place)
    assert storage.facts(place).size == file.stat().st_size
    assert storage.sha256(place) == hashlib.sha256(file.read_bytes()).hexdigest()


def test_odd_names_are_kept(storage: Storage, root: str) -> None:
    names = ["a b", "é%20=x", "p=1,2", "+plus", "a;b"]
    for name in names:
        storage.replace(join(root, "odd", name), name.encode())
    assert storage.names_in(join(root, "odd")) == sorted(names)
    assert all(storage.read_bytes(join(root, "odd", name)) == name.encode() for name in names)


def test_a_folder_is_listed_with_the_marks_that_tell_a_change(storage: Storage, root: str) -> None:
    for name in ("a/below", "b"):
        storage.replace(join(root, name), b"one")
    before = storage.list_folder(root)
    assert before.names == ["a", "b"]
    storage.replace(join(root, "b"), b"two")
    after = storage.list_folder(root)
    if before.marks is None:
        assert after.marks is None
    else:
        assert after.marks is not None
        assert before.marks.keys() == after.marks.keys() == {"b"}
        assert before.marks["b"] != after.marks["b"]


@pytest.mark.parametrize("number", [2, 7])
def test_sizes_are_of_the_files_that_are_there(storage: Storage, root: str, number: int) -> None:
    names = [f"runs/run {at}/p%20=1/part.parquet" for at in range(number)]
    for at, name in enumerate([*names, "before", "runs/run 3/other", "z"]):
        storage.replace(join(root, name), b"x" * at)
    wanted = [*names, "runs/none", "z/none"]
    assert storage.sizes(root, wanted) == {name: at for at, name in enumerate(names)}
