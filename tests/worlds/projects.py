"""Project folders for tests, applied and ready."""

from __future__ import annotations

from pathlib import Path

from lakeguard_sdk import Client, connect
from lakeguard_sdk.definition import Definitions
from lakeguard_sdk.words import LoadType
from tests.worlds.planes import numbers_definitions


def make_project(folder: Path, definitions: Definitions) -> Client:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "lakeguard.toml").write_text("[env.dev]\n")
    client = connect(folder)
    client.registry.apply(client.registry.plan(definitions))
    return client


def numbers_project(folder: Path, load: LoadType = LoadType.APPEND) -> Client:
    return make_project(folder, numbers_definitions(load))
