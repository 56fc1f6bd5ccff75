"""Raw column names are cleaned unless the dataset declares them."""

from __future__ import annotations

import pytest

from openlaketx.extract.files.file_columns import SameName, clean_names


@pytest.mark.parametrize(
    ("raw", "declared", "names"),
    [
        (("Cell ID#", "MCC"), ("cell_id", "mcc"), ("cell_id", "mcc")),
        (("Cell ID#", "MCC"), ("Cell ID#", "mcc"), ("Cell ID#", "mcc")),
        (("a", "New Col"), ("a",), ("a", "new_col")),
        (("#", "a"), ("a",), ("#", "a")),
        ((), ("a",), ()),
    ],
)
def test_names(raw: tuple[str, ...], declared: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert clean_names(raw, declared) == names


@pytest.mark.parametrize("raw", [("Cell ID", "Cell ID#"), ("cell_id", "Cell ID")])
def test_two_that_become_one_are_refused_by_name(raw: tuple[str, ...]) -> None:
    with pytest.raises(SameName, match=f"columns '{raw[0]}' and '{raw[1]}' both become 'cell_id'"):
        clean_names(raw, ("cell_id",))
