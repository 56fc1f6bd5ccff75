"""The pytest plug-in: fixtures and settings. A run that asks for none of them pays nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from lakeguard_sdk.testing.lake import Lake

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
    told = str(request.config.getini(PROJECT))
    if told:
        return root / told
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
    from lakeguard_sdk.testing.project import project_files

    made = Lake(tmp_path_factory.mktemp("lake"), spark_options=lakeguard_spark)
    if lakeguard_project is not None:
        made.take(project_files(lakeguard_project))
    return made
