"""Which files are merged: only small ones, only within a partition, never one alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.lake.port import LiveFile
from lakeguard.lake.small_files import small_file_groups

TARGET = 100


def live(sizes: list[tuple[int, str | None]]) -> list[LiveFile]:
    return [
        LiveFile(f"runs/r/f{index}", size, 1, {"p": value})
        for index, (size, value) in enumerate(sizes)
    ]


FILES = st.lists(st.tuples(st.integers(1, 150), st.sampled_from(["a", "b", None])), max_size=40)


@given(FILES)
def test_groups_hold_what_they_promise(sizes: list[tuple[int, str | None]]) -> None:
    files = live(sizes)
    by_path = {file.path: file for file in files}
    groups = small_file_groups(files, TARGET)
    chosen = [path for group in groups for path in group]
    assert len(chosen) == len(set(chosen))
    for group in groups:
        held = [by_path[path] for path in group]
        assert len(held) > 1
        assert all(file.size < TARGET for file in held)
        assert len({file.partition["p"] for file in held}) == 1
        assert sum(file.size for file in held) < 2 * TARGET
    assert groups == small_file_groups(reversed(files), TARGET)


@given(FILES)
def test_what_is_left_small_has_no_fellow_to_be_merged_with(
    sizes: list[tuple[int, str | None]],
) -> None:
    files = live(sizes)
    chosen = {path for group in small_file_groups(files, TARGET) for path in group}
    for value in ("a", "b", None):
        of_one = [file for file in files if file.partition["p"] == value and file.size < TARGET]
        left = [file for file in of_one if file.path not in chosen]
        assert len(left) <= 1


def test_a_file_of_which_only_the_log_tells_the_partition_is_left_alone() -> None:
    found = [LiveFile(f"p=a/{name}", 1, 1, {"p": "a"}) for name in ("x", "y")]
    assert small_file_groups(found, TARGET) == ()
    ours = live([(1, "a"), (2, "a")])
    assert small_file_groups([*found, *ours], TARGET) == (("runs/r/f0", "runs/r/f1"),)
    unpartitioned = [LiveFile(name, 1, 1, {}) for name in ("x", "y")]
    assert small_file_groups(unpartitioned, TARGET) == (("x", "y"),)
