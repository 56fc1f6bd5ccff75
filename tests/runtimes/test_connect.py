"""Spark behind a server makes the same tables, and what cannot be done there is said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runtimes.children import OWN, told_by
from tests.runtimes.connect_servers import running_connect_server
from tests.runtimes.shops import BUILT, make_shop
from tests.runtimes.tables import tables

pytestmark = pytest.mark.runtimes


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_connect_server(tmp_path_factory.mktemp("server"), {}) as address:
        yield address


def test_the_same_program_makes_the_same_tables(server: str, tmp_path: Path) -> None:
    seen, made = [], []
    for number, place in enumerate(("local[2]", server)):
        folder = tmp_path / f"lake {number}"
        make_shop(folder)
        document = json.loads(told_by(OWN, "-m", "tests.runtimes.program", place, str(folder)))
        seen.append(document)
        made.append(tables(folder, (*BUILT, "silver.marks")))
    ours, theirs = seen
    assert theirs.pop("refused") == "LG-1107"
    assert theirs == {key: ours[key] for key in theirs}
    assert made[0] == made[1]
