"""Tests that start processes; some of them also call commands in their own."""

from __future__ import annotations

from tests.unit.cli.conftest import shell as shell
