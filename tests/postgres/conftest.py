"""The command line, as the tests of its commands call it."""

from __future__ import annotations

from tests.unit.cli.conftest import shell as shell
