"""The page for notebooks names every call, and what it shows is Python."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import openlaketx

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "notebook.md").read_text("utf-8")


def test_every_call_is_on_the_page() -> None:
    for name in vars(openlaketx.Connection):
        if not name.startswith("_"):
            assert f"`tx.{name}(" in PAGE, name
    for name in ("status", "version", "decision", "registered", "raise_if_blocked"):
        assert hasattr(openlaketx.PublishResult, name) or name == "registered"
        assert re.search(rf"`(?:result\.)?{name}\b", PAGE), name
    assert "`run.note`" in PAGE


def test_what_is_shown_is_python() -> None:
    shown = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(shown) == 2
    for text in shown:
        ast.parse(text)
