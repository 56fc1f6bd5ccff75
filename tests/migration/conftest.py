"""Migrations are tested on engines as users have them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.quick_engines import as_users_have_them


@pytest.fixture(autouse=True)
def _engines_as_users_have_them() -> Iterator[None]:
    with as_users_have_them():
        yield
