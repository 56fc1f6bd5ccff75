"""What every file of the project keeps to."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[2]
FOLDERS = ("packages", "tests", "examples", "demo", "bench", "setup", "tools", "docs", ".ci")
LONGEST_FILE = 400
SAYS_NOTHING = {"utils", "util", "helpers", "helper", "common", "misc", "base", "manager"}
SWITCHES_OFF = {"skip", "skipif", "xfail", "importorskip"}
LOCKS = (
    ROOT / "requirements.lock",
    ROOT / "setup" / "build.txt",
    ROOT / "setup" / "runtimes" / "spark35.txt",
)

# Each pattern is written so that it does not match its own text.
FORBIDDEN_IN_CODE = {
    "unfinished": r"\bNotImplemented[E]rror\b",
    "silences mypy without saying what": r"#\s*type:\s*[i]gnore(?!\[)",
}
FORBIDDEN_ANYWHERE = {
    "address of a registry": r"(?:pypi|pythonhosted|maven|spark-packages|debian|ubuntu)[.]org",
    "path of one machine": r"(?<![\w.:}])/(?:home|root|Users|work)/\w",
}


def files(pattern: str = "*") -> list[Path]:
    beside = [path for path in ROOT.glob(pattern) if path.is_file() and path.name != ".git"]
    within = [path for folder in FOLDERS for path in (ROOT / folder).rglob(pattern)]
    return sorted(
        path
        for path in beside + within
        if path.is_file() and not {"__pycache__", "scratch"} & set(path.parts)
    )


def texts(pattern: str = "*") -> dict[Path, str]:
    found = {}
    for path in files(pattern):
        content = path.read_bytes()
        if b"\0" not in content:
            found[path.relative_to(ROOT)] = content.decode()
    return found


def matches(texts: dict[Path, str], patterns: dict[str, str]) -> list[str]:
    return [
        f"{path}:{number}: {meaning}: {line.strip()}"
        for path, text in texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        for meaning, pattern in patterns.items()
        if re.search(pattern, line)
    ]


def pins(lock: Path) -> dict[str, list[Version]]:
    found: dict[str, list[Version]] = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", lock.read_text("utf-8"), re.MULTILINE):
        found.setdefault(name, []).append(Version(version))
    return found


def declared() -> list[Requirement]:
    """All that the workspace asks for, its own packages left out."""
    root = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    asked = [item for group in root["dependency-groups"].values() for item in group]
    for path in sorted(ROOT.glob("packages/*/pyproject.toml")):
        project = tomllib.loads(path.read_text("utf-8"))["project"]
        asked += project["dependencies"]
        asked += [
            item for extra in project.get("optional-dependencies", {}).values() for item in extra
        ]
    requirements = [Requirement(item) for item in asked if isinstance(item, str)]
    return [requirement for requirement in requirements if requirement.name != "lakeguard-sdk"]


def imported_by(source: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


def test_files_are_short() -> None:
    lengths = {path: text.count("\n") for path, text in texts("*.py").items()}
    assert {path: length for path, length in lengths.items() if length > LONGEST_FILE} == {}


def test_names_say_what_is_inside() -> None:
    names = {path.relative_to(ROOT): path.stem for path in files("*.py")}
    drawers = {path for path in names if SAYS_NOTHING & {*path.parts[:-1], names[path]}}
    assert drawers == set()


def test_every_room_is_a_package() -> None:
    """A folder without ``__init__.py`` is invisible to the import contracts."""
    rooms = {path.parent for path in ROOT.glob("packages/*/src/*/**/*.py")}
    bare = {str(room.relative_to(ROOT)) for room in rooms if not (room / "__init__.py").exists()}
    assert bare - {"packages/lakeguard/src/lakeguard/state/migrations/versions"} == set()


def test_nothing_is_left_unfinished_or_silenced() -> None:
    assert matches(texts("*.py"), FORBIDDEN_IN_CODE) == []


def test_no_test_is_switched_off() -> None:
    switched_off = [
        f"{path}:{node.lineno}: {node.attr}"
        for path, text in texts("*.py").items()
        if path.parts[0] == "tests"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr in SWITCHES_OFF
    ]
    assert switched_off == []


def test_no_file_names_a_registry_or_one_machine() -> None:
    assert matches(texts(), FORBIDDEN_ANYWHERE) == []


def test_sdk_imports_pydantic_and_httpx_alone() -> None:
    allowed = {*sys.stdlib_module_names, "lakeguard_sdk", "pydantic", "pydantic_core", "httpx"}
    root = ROOT / "packages/lakeguard-sdk/src"
    optional = {
        "testing/plugin.py": {"pytest"},
        "storage/object_store.py": {"obstore"},
        "storage/aws_chain.py": {"botocore"},
        "storage/unfinished_uploads.py": {"botocore"},
    }
    files = {root / "lakeguard_sdk" / name: more for name, more in optional.items()}
    for source, more in files.items():
        assert imported_by(source) <= allowed | more
    others = set(root.rglob("*.py")) - files.keys()
    assert {name for source in others for name in imported_by(source)} <= allowed


def test_gate_asks_no_clock_and_opens_nothing() -> None:
    reached = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {called}"
        for path in (ROOT / "packages/lakeguard/src/lakeguard/gate").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        for called in [getattr(node.func, "attr", getattr(node.func, "id", ""))]
        if called in {"now", "utcnow", "today", "open", "read_text", "read_bytes"}
    ]
    assert reached == []


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_locks_hold_hashes_and_no_addresses(lock: Path) -> None:
    text = lock.read_text("utf-8")
    entries = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
    assert len(entries) == sum(len(versions) for versions in pins(lock).values()) > 0
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
    assert re.findall(r"://|file:|--(?:extra-)?index-url|--find-links", text) == []


def test_lock_answers_what_the_workspace_asks_for() -> None:
    locked = pins(ROOT / "requirements.lock")
    unanswered = [
        str(requirement)
        for requirement in declared()
        for name in [requirement.name.lower().replace("_", "-")]
        if name not in locked or not all(v in requirement.specifier for v in locked[name])
    ]
    assert unanswered == [], "type: make lock"


def test_what_builds_is_locked_alike() -> None:
    locked = pins(ROOT / "requirements.lock")
    assert {name: locked.get(name) for name in pins(LOCKS[1])} == pins(LOCKS[1])
