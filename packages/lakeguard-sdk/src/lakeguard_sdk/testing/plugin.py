"""The pytest plugin: fixtures and settings, without cost for tests that do not use them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from lakeguard_sdk.testing.lake import Lake


pytest.register_assert_rewrite(
    "lakeguard_sdk.testing.repository_contract", "lakeguard_sdk.testing.repository_reading"
)

PROJECT = "lakeguard_project"
SPARK = "lakeguard_spark"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(PROJECT, "folder of the project that `lake` starts from", default="")
    parser.addini(SPARK, "options of Spark, one key=value a line", type="linelist")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"{PROJECT}(folder): the project that `lake` starts from; None for a bare lake"
    )


@pytest.fixture
def lakeguard_project(request: pytest.FixtureRequest) -> Path | None:
    """The marker's folder, else that of the settings, else where pytest starts from; or none.

    Relative to the folder of the settings of pytest.
    """
    root = request.config.rootpath
    marker = request.node.get_closest_marker(PROJECT)
    if marker is not None:
        if len(marker.args) != 1 or marker.kwargs:
            raise pytest.UsageError(
                f'write @pytest.mark.{PROJECT}("folder"), or None for a bare lake'
            )
        named = marker.args[0]
        return None if named is None else root / named
    configured = str(request.config.getini(PROJECT))
    if configured:
        return root / configured
    return root if (root / "lakeguard.toml").is_file() else None


@pytest.fixture(scope="session")
def lakeguard_spark(request: pytest.FixtureRequest) -> dict[str, str]:
    """Options of the one Spark of the process; it starts with the first run."""
    lines: list[str] = request.config.getini(SPARK)
    for line in lines:
        if not all(part.strip() for part in line.partition("=")):
            raise pytest.UsageError(f"{SPARK}: write key=value, not {line!r}")
    pairs = [line.partition("=") for line in lines]
    return {key.strip(): value.strip() for key, _, value in pairs}


@pytest.fixture
def lake(
    lakeguard_project: Path | None,
    lakeguard_spark: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Lake:
    """An empty lake of this test alone, with the definitions of the project, not yet applied."""
    from lakeguard_sdk.testing.lake import Lake

    made = Lake(tmp_path_factory.mktemp("lake"), spark_options=lakeguard_spark)
    if lakeguard_project is not None:
        made.take(project_files(lakeguard_project))
    return made


# The files of a project that say what its data is; never its settings, nor its data.

DEFINITIONS = "definitions"
_CODE = (".sql", ".py")
_MARKS = ("_delta_log", "pyvenv.cfg")
"""Mark a folder as a Delta table or a virtual environment."""


def project_files(project: Path) -> dict[str, bytes]:
    """All below ``definitions``, and every file of SQL and Python, by path from the project.

    Left out are hidden folders, those named ``tests``, tables and installed Pythons. The settings
    stay behind: they may name the lake and the database of others.
    """
    if not (project / DEFINITIONS).is_dir():
        from lakeguard_sdk.errors import WrongArgument

        raise WrongArgument(
            method="lakeguard_project",
            given=f"{project}, which has no folder {DEFINITIONS}",
            call="name the folder of lakeguard.toml, from the folder of pytest's settings",
        )
    return {path.relative_to(project).as_posix(): path.read_bytes() for path in _wanted(project)}


def _wanted(project: Path) -> Iterator[Path]:
    for top, folders, names in os.walk(project):
        folder = Path(top)
        folders[:] = sorted(name for name in folders if _is_looked_into(folder / name))
        defining = folder.relative_to(project).parts[:1] == (DEFINITIONS,)
        for name in sorted(names):
            if defining or name.endswith(_CODE):
                yield folder / name


def _is_looked_into(folder: Path) -> bool:
    if folder.name.startswith((".", "__")) or folder.name == "tests":
        return False
    return not any((folder / mark).exists() for mark in _MARKS)
