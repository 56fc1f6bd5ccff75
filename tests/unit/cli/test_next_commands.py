"""Every command that the program tells people to type is one that it knows, options included."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import click
import pytest

import lakeguard
import lakeguard_sdk
import openlaketx
from lakeguard.cli.main import cli
from lakeguard_sdk.errors import error_classes

_COMMAND = re.compile(r"\blakeguard (?=[a-z-])(.*?)(?=[,;`\n]| && |$)")
_VALUES = {"version": "1", "x": "1", "fix": "lakeguard sync", "command": "status"}
"""What stands for a field; every other stands for itself."""
CLASSES = [kind for kind in error_classes() if kind.__module__.startswith("lakeguard_sdk.")]
OTHERWISE = {
    "BadListenAddress": "repeat the command",
    "BadToken": "Authorization: Bearer TOKEN",
    "BadUserName": "choose another name",
    "BuiltByProgram": "tx.publish(",
    "ColumnsInFlight": "repeat the command",
    "EventConflict": "send it with a new id",
    "FolderNeeded": "unset LAKEGUARD_URL",
    "KeyReused": "send a new key",
    "JarsMissing": "python -m openlaketx.engine.spark.jars",
    "ListenAddressInUse": "repeat the command",
    "NameTaken": "tx.read(",
    "NotAdoptable": "{way_out}",
    "NotAuthenticated": "set LAKEGUARD_TOKEN",
    "NotPermitted": "ask an administrator",
    "NotInRun": "call run.note",
    "NotPublishable": "call publish again",
    "NoteRefused": "run.note",
    "PageExpired": "read the list again",
    "PathsForbidden": "tx.read(",
    "RateLimited": "repeat the command",
    "RequestRefused": "see docs/reference/api.md",
    "SecretInEvent": "send the event without the secret",
    "SecretMissing": "provide the secret to the worker",
    "SecretInReason": "repeat the command",
    "ServiceBusy": "repeat the command",
    "ServiceNotTrusted": "check the scheme of LAKEGUARD_URL",
    "ServiceUrlInvalid": "set LAKEGUARD_URL",
    "SharedCatalogue": "tx.read(",
    "UnsupportedSpark": "SparkSession.builder",
    "SparkTooOld": "pip install",
    "StateCommitUnknown": "repeat the command",
    "StateFull": "repeat the command",
    "StateLocked": "repeat the command",
    "StateMismatch": "upgrade lakeguard",
    "StateReadOnly": "repeat the command",
    "StateRefused": "choose another schema",
    "StateUnavailable": "repeat the command",
    "TracesUnavailable": "pip install",
    "UnknownFrame": "tx.read(",
    "UnknownPlane": "pip install",
    "WorkerMissing": "pip install",
    "WrongArgument": "{call}",
}
"""Errors whose way out is no command of this program, and what it is instead."""
PACKAGES = [
    Path(package.__file__ or "").parent for package in (lakeguard, lakeguard_sdk, openlaketx)
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are there by the words that stand for them."""
    monkeypatch.chdir(tmp_path)
    for name in ("FILE", "FILE.", "FILES", "1"):
        (tmp_path / name).touch()


def commands_in(text: str) -> list[str]:
    """Each from its first word to where the sentence goes on."""
    names = {name for _, name, _, _ in Formatter().parse(text) if name}
    filled = text.format(**{name: _VALUES.get(name, f"a.{name}") for name in names})
    filled = filled.replace("HASH", f"sha256:{'0' * 64}").replace("/*.csv", "")
    for placeholder in ('"…"', "--reason WHY", "--approver NAME"):  # not taken as they stand
        filled = filled.replace(placeholder, placeholder.rpartition(" ")[0] + " x")
    return [found.strip() for found in _COMMAND.findall(filled)]


def parse(line: str) -> None:
    """Raises what a person would be told; nothing is done."""
    command: click.Command = cli
    words, context = shlex.split(line), None
    name = "lakeguard"
    try:
        while True:
            context = command.make_context(name, words, parent=context)
            if not isinstance(command, click.Group):
                return
            words = [*context._protected_args, *context.args]
            found, inner, words = command.resolve_command(context, words)
            assert inner is not None, found
            name, command = found or "", inner
    except click.exceptions.Exit:
        return  # it asked for help, and got it


def texts(file: Path) -> Iterator[str]:
    """Strings of one line that are no docstring; what is computed in one stands as ``{x}``."""
    tree = ast.parse(file.read_text("utf-8"))
    nodes = list(ast.walk(tree))
    apart = {node.value for node in nodes if isinstance(node, ast.Expr)}
    apart |= {part for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if node not in apart and isinstance(node, ast.Constant | ast.JoinedStr):
            text = _text(node)
            if _COMMAND.search(text) and "\n" not in text and not text.endswith(" "):
                yield text


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.JoinedStr(values=values):
            return "".join(map(_text, values))
        case ast.FormattedValue():
            return "{x}"
    return ""


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_the_next_command_of_an_error_exists(kind: type) -> None:
    reported = kind.next_command  # type: ignore[attr-defined]
    lines = commands_in(reported)
    if kind.__name__ in OTHERWISE:
        assert OTHERWISE[kind.__name__] in reported
        assert not lines, "it has a command, and need not be named apart"
    else:
        assert lines, f"no command of the program in {reported!r}"
    for line in lines:
        parse(line)


def test_whatever_is_named_apart_is_an_error() -> None:
    assert OTHERWISE.keys() <= {kind.__name__ for kind in CLASSES}


def test_a_misspelt_program_is_noticed() -> None:
    assert not commands_in("lakegaurd run {dataset}")


def test_whatever_is_told_to_be_typed_exists() -> None:
    described = [
        (file.name, line)
        for package in PACKAGES
        for file in sorted(package.rglob("*.py"))
        for text in texts(file)
        for line in commands_in(text)
    ]
    assert len(described) > 100, "the strings are found"
    wrong = []
    for file, line in described:
        try:
            parse(line)
        except click.ClickException as error:
            wrong.append(f"{file}: lakeguard {line}: {error.format_message()}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("line", ["runn a.b", "run --nothing", "schema approve a.b", "load"])
def test_what_does_not_exist_is_noticed(line: str) -> None:
    with pytest.raises(click.ClickException):
        parse(line)
