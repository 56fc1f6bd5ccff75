"""The shape of the source tree: folder sizes, single-user modules and module names."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
LARGEST_FOLDER = 25
LEAST_MEDIAN = 125
SMALL_MODULE = 150
SINGLE_USER_SHARE = 0.15
BANNED_WORDS = re.compile(
    r"(^|_)(heart|aside|tell|told|untold|said|kept|wish|wishes|herald|behind|unstated|telling"
    r"|tellings|news|happenings|sieve|senseless|reckoning)(_|$)"
)
NOUNS_IN_ING = {"string", "ring"}
PHASES = {
    "opening",
    "deciding",
    "publishing",
    "planning",
    "scheduling",
    "rendering",
    "testing",
    "editing",
}
"""Packages named after a phase of a run, or after a field's own word."""
ROUTINES = {"reporting", "partitioning", "profiling", "sampling", "encoding", "masking", "fencing"}


@cache
def modules() -> dict[str, Path]:
    """Every product module by its dotted name; packages by theirs."""
    found = {}
    for path in ROOT.glob("packages/*/src/**/*.py"):
        if "versions" in path.parts and "migrations" in path.parts:
            continue
        parts = path.relative_to(ROOT).with_suffix("").parts[3:]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def plain_modules() -> dict[str, Path]:
    return {name: path for name, path in modules().items() if path.name != "__init__.py"}


@cache
def users() -> dict[str, set[str]]:
    """Which modules import each module; re-exports of a package do not count."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, path in plain_modules().items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                for target in (node.module, *(f"{node.module}.{a.name}" for a in node.names)):
                    if target in modules():
                        found[target].add(name)
    return found


def loaded_first(path: Path) -> set[str]:
    """Modules that a module imports while it is loaded."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for target in (node.module, *(f"{node.module}.{a.name}" for a in node.names)):
                found |= {target} & plain_modules().keys()
    return found


def test_any_module_can_be_imported_first() -> None:
    """A cycle of imports works in one order and fails in another."""
    graph = {name: loaded_first(path) for name, path in plain_modules().items()}
    assert len(tuple(TopologicalSorter(graph).static_order())) == len(graph)


def test_no_folder_is_larger_than_a_screen() -> None:
    folders = Counter(str(path.parent.relative_to(ROOT)) for path in plain_modules().values())
    assert {name: size for name, size in folders.items() if size > LARGEST_FOLDER} == {}


def test_features_make_modules_and_not_fragments_of_them() -> None:
    lines = [path.read_text("utf-8").count("\n") for path in plain_modules().values()]
    assert median(lines) >= LEAST_MEDIAN


def test_few_small_modules_have_a_single_user() -> None:
    small = [
        name
        for name, path in plain_modules().items()
        if len(users()[name]) == 1 and path.read_text("utf-8").count("\n") < SMALL_MODULE
    ]
    assert len(small) <= SINGLE_USER_SHARE * len(plain_modules()), sorted(small)


def test_module_names_are_nouns_or_verb_and_object() -> None:
    allowed = NOUNS_IN_ING | PHASES | ROUTINES
    odd = [
        name
        for name, path in modules().items()
        for stem in (path.parent.name if path.name == "__init__.py" else path.stem,)
        if BANNED_WORDS.search(stem) or (re.fullmatch(r"[a-z]+ing", stem) and stem not in allowed)
    ]
    assert odd == []


def test_class_and_function_names_use_no_private_word() -> None:
    odd = [
        f"{name}.{node.name}"
        for name, path in modules().items()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and BANNED_WORDS.search(re.sub(r"(?<!^)(?=[A-Z])", "_", node.name).lower())
    ]
    assert odd == []
