"""Fixtures that every suite may ask for."""

from __future__ import annotations

pytest_plugins = ["tests.worlds.databases"]
