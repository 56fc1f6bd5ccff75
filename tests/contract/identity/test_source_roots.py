"""Which files a source may read that is defined through a service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard.access.principal import EVERYTHING, Action, Grant, Principal, PrincipalKind
from lakeguard.plane import open_state
from lakeguard.service_plane import client_for
from lakeguard.settings import Settings, load_settings
from lakeguard_sdk.client import Client, connect
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import SourceOutsideRoots
from lakeguard_sdk.model.definitions import Definitions, FromSource
from lakeguard_sdk.model.run import RunPlan, SourceBuild
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.lakes.policy_datasets import opened
from tests.support.projects.planes import NUMBERS, numbers_definitions
from tests.support.projects.projects import make_project

ADA = Principal(
    "default",
    PrincipalKind.USER,
    "user_1",
    "ada",
    grants=(Grant(frozenset(Action), EVERYTHING),),
)


def with_source(path: str) -> Definitions:
    base = numbers_definitions(LoadType.APPEND)
    (source,) = base.sources
    return base.model_copy(update={"sources": (source.model_copy(update={"path": path}),)})


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    make_project(tmp_path, numbers_definitions(LoadType.APPEND)).close()
    (tmp_path / "in").mkdir()
    return tmp_path


def user(folder: Path, *roots: Path) -> Client:
    """As a service makes it for ADA."""
    settings = settings_with(folder, *roots)
    return client_for(settings, open_state(settings), ADA)


def settings_with(folder: Path, *roots: Path) -> Settings:
    named = ", ".join(f'"{root}"' for root in roots)
    file = folder / "lakeguard.toml"
    text = file.read_text().partition("\n[env.dev.service]")[0]
    file.write_text(f"{text}\n[env.dev.service]\nsource_roots = [{named}]\n")
    return load_settings(folder)


def test_a_source_elsewhere_is_refused(folder: Path) -> None:
    ada = user(folder, folder / "in")
    (folder / "in" / "out").symlink_to("/etc")
    for path in ("/etc/passwd", "in/../other/*.csv", "in/out/passwd", "in/out/*"):
        with pytest.raises(SourceOutsideRoots, match="source"):
            ada.registry.plan(with_source(path))
    assert ada.registry.apply(ada.registry.plan(with_source("in/*.csv"))).steps == 1


def test_a_plan_of_somebody_else_is_checked_again(folder: Path) -> None:
    plan = connect(folder).registry.plan(with_source("/etc/passwd"))
    with pytest.raises(SourceOutsideRoots):
        user(folder, folder / "in").registry.apply(plan)


def test_without_roots_no_path_is_registered_through_a_service(folder: Path) -> None:
    ada = user(folder)
    with pytest.raises(SourceOutsideRoots):
        ada.registry.plan(with_source("in/*.csv"))
    assert ada.registry.plan(numbers_definitions(LoadType.APPEND)).steps == ()


def test_an_object_stays_in_its_source(folder: Path) -> None:
    base = numbers_definitions(LoadType.APPEND)
    (dataset,) = base.datasets
    build = FromSource(source=base.sources[0].source, object="../../etc/passwd")
    changed = dataset.model_copy(update={"build": build})
    with pytest.raises(SourceOutsideRoots, match="dataset bronze"):
        user(folder, folder / "in").registry.plan(base.model_copy(update={"datasets": (changed,)}))


def test_a_run_has_the_roots_whoever_opens_it(folder: Path) -> None:
    before = opened(connect(folder)).build
    assert isinstance(before, SourceBuild)
    assert before.roots == ()
    settings_with(folder, folder / "in")
    client = connect(folder)
    task = client.operations.submit(NUMBERS, "test", key="again")
    plan = client.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan)
    assert isinstance(plan.build, SourceBuild)
    assert plan.build.roots == (str(folder / "in"),)
