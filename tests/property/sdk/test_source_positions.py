"""Positions by difference: adding them up gives the same as keeping every file."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from lakeguard_sdk.model.evidence import (
    NO_FILES,
    SourceFile,
    SourcePosition,
    VersionPosition,
    files_digest,
)

KEYS = st.sampled_from(["in/a", "in/b", "in/c", "in/d"])
FILES = st.builds(
    SourceFile,
    path=KEYS,
    size=st.integers(0, 2),
    modified_ms=st.integers(0, 2),
    etag=st.sampled_from(["", "x"]),
    sha256=st.sampled_from(["", "0" * 64, "1" * 64]),
)
CHANGES = st.lists(
    st.tuples(st.lists(FILES, max_size=4, unique_by=lambda file: file.key), st.sets(KEYS)),
    min_size=1,
    max_size=6,
)


@given(CHANGES)
def test_the_sum_of_differences_is_the_whole(
    changes: list[tuple[list[SourceFile], set[str]]],
) -> None:
    whole: dict[str, SourceFile] = {}
    position: VersionPosition | None = None
    for version, (files, gone) in enumerate(changes, 1):
        read = SourcePosition(
            since=version - 1,
            files=tuple(files),
            gone=tuple(sorted(gone & whole.keys() - {file.key for file in files})),
        )
        known = {key: whole[key] for key in read.changes if key in whole}
        position = read.at(version, position, known)
        merged = {**whole, **read.changes}
        whole = {key: file for key, file in merged.items() if file is not None}
        assert position.holds(tuple(whole.values()))
        at_once = SourcePosition(files=tuple(whole.values())).at(version, None, {})
        assert at_once == position


@given(st.lists(FILES, unique_by=lambda file: file.key), st.randoms(use_true_random=False))
def test_the_digest_is_of_the_set(files: list[SourceFile], chance: Random) -> None:
    shuffled = list(files)
    chance.shuffle(shuffled)
    assert files_digest(shuffled) == files_digest(files)
    assert (files_digest(files) == NO_FILES) == (not files)
    for file in files:
        touched = file.model_copy(update={"size": file.size + 1})
        others = [each for each in files if each is not file]
        assert files_digest([*others, touched]) != files_digest(files)
        assert files_digest(others) != files_digest(files)


@given(FILES)
def test_a_download_is_known_by_its_content(file: SourceFile) -> None:
    download = file.model_copy(update={"by_content": True})
    assert (file.key, download.key) == (file.path, file.sha256)
    assert SourceFile.from_json(download.to_json()) == download
    assert "by_content" not in file.to_json()
