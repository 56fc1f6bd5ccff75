"""The hand-written pages: their commands parse and their links resolve."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from lakeguard.cli.command_registry import COMMANDS
from lakeguard.cli.main import cli

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "packages/lakeguard/src/lakeguard/cli/template"
LINKING = [
    *ROOT.glob("*.md"),
    *sorted((ROOT / "docs").rglob("*.md")),
    *ROOT.glob("examples/*/*.md"),
]
PAGES = [ROOT / "README.md", ROOT / "docs/tutorial/getting-started.md", TEMPLATE / "README.md"]


def commands(page: Path) -> list[list[str]]:
    """The indented lines of a page outside fenced blocks, as a shell splits them."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^    (\S.*)$", text, re.MULTILINE)
    return [shlex.split(line, comments=True) for line in indented]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_every_lakeguard_command_can_be_parsed(page: Path) -> None:
    found = [words[1:] for words in commands(page) if words[0] == "lakeguard"]
    assert found
    for name, *arguments in found:
        assert name in COMMANDS
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        arguments = [word for word in arguments if word != "FILE"]
        command.make_context(name, arguments, resilient_parsing=False)


def test_the_commands_of_the_runbook_can_be_parsed() -> None:
    text = (ROOT / "docs/how-to/runbook.md").read_text("utf-8")
    found = [shlex.split(line) for line in re.findall(r"^\$ lakeguard (.*)$", text, re.MULTILINE)]
    assert len(found) > 20
    for name, *arguments in found:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        command.make_context(name, arguments, resilient_parsing=False)


def test_every_make_target_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {words[1] for words in commands(ROOT / "README.md") if words[0] == "make"}
    assert named == {"demo", "test"}
    assert named <= targets


def test_the_files_that_the_walk_touches_are_in_the_template() -> None:
    named = re.findall(r"incoming/\S+\.csv", (ROOT / "README.md").read_text("utf-8"))
    assert named
    assert all(any(TEMPLATE.glob(name)) for name in named)


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to a page's headings, and those written as HTML."""
    text = page.read_text("utf-8")
    named = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        plain = re.sub(r"\]\([^)]*\)", "", heading).lower()
        named.add(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return named


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text("utf-8")):
        if "://" in link:
            continue
        target = page.parent / link if link else page
        assert target.exists(), f"{link} does not exist"
        if anchor:
            assert anchor in anchors(target), f"{link} has no heading #{anchor}"


ROOTS = {
    "LG/": "packages/lakeguard/src/lakeguard/",
    "TX/": "packages/openlaketx/src/openlaketx/",
    "SDK/": "packages/lakeguard-sdk/src/lakeguard_sdk/",
    "tests/": "tests/",
    "tools/": "tools/",
    "docs/": "docs/",
    "packages/": "packages/",
}


def test_contributing_names_files_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(r"`((?:LG|TX|SDK|tests|tools|docs|packages)/[^`\s]*)`", text)
    assert len(named) > 50
    for name in named:
        first, _, rest = name.partition("/")
        assert (ROOT / ROOTS[f"{first}/"] / rest).exists(), name


def test_architecture_names_files_that_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    sources = [ROOT / folder for folder in ROOTS.values() if folder.startswith("packages/l")]
    sources.append(ROOT / ROOTS["TX/"])
    rows = re.findall(r"^\| `([a-z_]+)/` \|.*\| ([^|]+) \|$", text, re.MULTILINE)
    assert len(rows) > 10
    for package, entries in rows:
        for name in re.findall(r"`([a-z_]+(?:/[a-z_]+)*(?:\.py|/))`", entries):
            assert any((root / package / name).exists() for root in sources), f"{package}/{name}"
    for name in re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", text):
        folders = [*sources, *(root.parent for root in sources)]
        below = [path for root in folders for path in root.rglob(name)]
        assert below, name


def test_the_index_lists_every_page() -> None:
    index = (ROOT / "docs/README.md").read_text("utf-8")
    linked = set(re.findall(r"\]\(([^)#]+)", index))
    folders = ("tutorial", "how-to", "reference", "explanation")
    pages = {f"{path.parent.name}/{path.name}" for name in folders for path in _in(name)}
    assert pages - linked == set()


def _in(folder: str) -> list[Path]:
    return sorted((ROOT / "docs" / folder).iterdir())
