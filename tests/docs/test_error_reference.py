"""docs/reference/errors.md is the error tree: current, complete, one code per error."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from string import Formatter

from lakeguard_sdk.errors import LakeGuardError, error_classes

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "errors.md"
KINDS = [kind for kind in error_classes() if kind.__module__.startswith("lakeguard_sdk.")]


def test_every_code_is_on_the_page() -> None:
    on_page = set(re.findall(r"^\| (LG-\d{4}) ", PAGE.read_text("utf-8"), re.MULTILINE))
    assert {kind.code for kind in KINDS} <= on_page


def test_no_two_errors_share_a_code() -> None:
    own = Counter(kind.code for kind in KINDS if "code" in vars(kind))
    assert [code for code, count in own.items() if count > 1] == []


def test_every_error_with_a_code_says_the_way_out() -> None:
    silent = [kind.__name__ for kind in KINDS if "code" in vars(kind) and not kind.__doc__]
    assert silent == []


def test_every_message_can_be_filled() -> None:
    for kind in KINDS:
        for text in (kind.what, kind.next_command):
            fields = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
            assert all(name.isidentifier() for name in fields), kind.__name__


def test_every_code_named_in_the_docs_exists() -> None:
    codes = {kind.code for kind in KINDS} | {LakeGuardError.code, "LG-1000"}
    root = PAGE.parents[2]
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        named = set(re.findall(r"LG-\d{4}", page.read_text("utf-8")))
        assert named <= codes, page.name
