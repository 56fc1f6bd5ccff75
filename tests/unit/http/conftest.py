"""The application over a project of one dataset."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fakes.asked_app import AskedApp, numbers_app


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> AskedApp:
    folder: Path = tmp_path_factory.mktemp("numbers")
    return numbers_app(folder)
