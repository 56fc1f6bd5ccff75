"""A temporary lake: a folder with its own settings, SQLite, and the installed worker."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib.metadata import entry_points
from pathlib import Path, PurePosixPath
from textwrap import dedent
from typing import Any, Protocol, cast

from lakeguard_sdk.client import Client, Worker, connect, local_worker
from lakeguard_sdk.core.dataset_name import DatasetName, parse_address
from lakeguard_sdk.errors import InvalidDefinitions, UnknownPlane, WorkerMissing, WrongArgument
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.model.plan import Applied
from lakeguard_sdk.model.quarantine import QuarantineSelection
from lakeguard_sdk.model.read_models import PointerMove, ResolvedDataset, VersionRow
from lakeguard_sdk.model.run import RunResult

# What a throw-away lake needs of the planes that are installed, found by entry point.

FOLDERS = "lakeguard_sdk.folders"
TASK_RUNNERS = "lakeguard_sdk.task_runners"


class TaskRunner(Protocol):
    """What a test does beside runs: on the one Spark of the process, or without it."""

    def spark(self) -> Any: ...
    def publish(self, name: str, frame: Any) -> RunResult: ...
    def rows(self, found: ResolvedDataset) -> list[dict[str, Any]]:
        """In one order, whatever the files; without Spark."""


def _read_folder(folder: Path) -> Definitions:
    """The definitions of a project; ``InvalidDefinitions`` with every mistake if there is one."""
    found = _load(FOLDERS, "embedded")
    if found is None:
        raise UnknownPlane(url=str(folder))
    return cast(Callable[[Path], Definitions], found)(folder)


def _local_task_runner(client: Client, spark_options: Mapping[str, str]) -> TaskRunner:
    """The task runner of the data plane that is installed here."""
    found = _load(TASK_RUNNERS, "openlaketx")
    if found is None:
        raise WorkerMissing()
    return cast(Callable[..., TaskRunner], found)(client, spark_options=dict(spark_options))


def _load(group: str, name: str) -> object | None:
    found = next(iter(entry_points(group=group, name=name)), None)
    return None if found is None else found.load()


# Where a definition that stands in a test belongs, and rows as the text of a file.

Rows = Iterable[Mapping[str, Any]]

_FOLDERS = {
    "profile": "profiles",
    "rule": "rules",
    "source": "sources",
    "target": "targets",
    "policy": "policies",
    "job": "jobs",
}
_HEAD = re.compile(rf"^(dataset|{'|'.join(_FOLDERS)}):[ \t]*(\S+)", re.MULTILINE)


def definition_files(text: str) -> dict[str, str]:
    """Each definition of a text by the path of its file; ``---`` stands between two of them."""
    found: dict[str, str] = {}
    for part in re.split(r"^---[ \t]*$", dedent(text), flags=re.MULTILINE):
        if part.strip():
            found[_place(part)] = part.lstrip("\n")
    return found


def _place(text: str) -> str:
    heads = dict(reversed(match) for match in _HEAD.findall(text)[:1])
    for name, kind in heads.items():
        folder = _FOLDERS.get(kind)
        if folder is not None:
            return f"definitions/{folder}/{name}.yaml"
        dataset = DatasetName(name)
        return f"definitions/{dataset.layer}/{dataset.name}.yaml"
    raise WrongArgument(
        method="lake.apply",
        given=f"a text that defines nothing: {text.strip()[:60]!r}",
        call='lake.apply("dataset: silver.orders …"), definitions apart by a line of ---',
    )


def file_text(path: str, rows: Rows) -> str:
    """Rows as CSV or JSON lines, as the name of the file says. None is NULL in both."""
    listed = [dict(row) for row in rows]
    ending = PurePosixPath(path).suffix
    if ending == ".csv" and listed:
        return _csv(path, listed)
    if ending == ".jsonl":
        return "".join(json.dumps(row, default=str) + "\n" for row in listed)
    given = f"no rows for {path}" if ending == ".csv" else f"rows for {path}"
    raise WrongArgument(
        method="lake.write",
        given=given,
        call='lake.write("exports/orders.csv", [{"id": 1}]), or .jsonl; any other as text',
    )


def _csv(path: str, rows: list[dict[str, Any]]) -> str:
    """Every row has the columns of the first: a file of CSV cannot say that one has not."""
    header = list(rows[0])
    for number, row in enumerate(rows, 1):
        if set(row) != set(header):
            raise WrongArgument(
                method="lake.write",
                given=f"row {number} for {path} with {', '.join(row)}",
                call=f"give every row the columns {', '.join(header)}; None where one is empty",
            )
    lines = [header, *([row[name] for name in header] for row in rows)]
    return "".join(",".join(map(_field, line)) + "\n" for line in lines)


def _field(value: Any) -> str:
    """Nothing is NULL, and an empty text has quotes."""
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else _plain(value)
    if text and not set(text) & set(',"\r\n') and text == text.strip():
        return text
    return '"' + text.replace('"', '""') + '"'


def _plain(value: Any) -> str:
    """Times as ISO 8601 has them."""
    isoformat = getattr(value, "isoformat", None)
    return str(isoformat()) if isoformat is not None else str(value)


ENV = "test"
SETTINGS = f'default_env = "{ENV}"\n\n[env.{ENV}]\n'
WHO = "tests"


class Lake:
    """Nothing outside of ``folder`` is written, whatever the settings of the project say.

    What is read and run is real: the control plane, the gate, Spark and Delta.
    """

    def __init__(self, folder: Path, *, spark_options: Mapping[str, str] | None = None) -> None:
        self.folder = folder.resolve()
        self._spark_options = dict(spark_options or {})
        self.write("lakeguard.toml", SETTINGS)

    @cached_property
    def client(self) -> Client:
        """The control plane of the lake, with all that an operator may do."""
        return connect(self.folder, env=ENV)

    @cached_property
    def _worker(self) -> Worker:
        return local_worker(self.client.for_worker(), spark_options=self._spark_options)

    @cached_property
    def _task_runner(self) -> TaskRunner:
        return _local_task_runner(self.client, self._spark_options)

    @property
    def spark(self) -> Any:
        """The session of the process, on which runs work too."""
        return self._task_runner.spark()

    def write(self, path: str, content: str | bytes | Rows) -> Path:
        """A file below the folder, from text, or from rows as ``.csv`` or ``.jsonl``."""
        file = (self.folder / path).resolve()
        if not file.is_relative_to(self.folder):
            raise WrongArgument(
                method="lake.write",
                given=f"{path}, which is outside of the lake",
                call='lake.write("exports/orders.csv", rows)',
            )
        if not isinstance(content, str | bytes):
            content = file_text(path, content)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def take(self, files: Mapping[str, bytes]) -> None:
        """The files of a project; they are applied when the test says so."""
        for path, content in files.items():
            self.write(path, content)

    def apply(self, text: str = "") -> Applied:
        """What the folder defines becomes the registry's, after what ``text`` adds or replaces.

        A mistake is raised with its place, and so is each of several.
        """
        (self.folder / "definitions").mkdir(exist_ok=True)
        self.take({path: part.encode() for path, part in definition_files(text).items()})
        registry = self.client.registry
        try:
            return registry.apply(registry.plan(_read_folder(self.folder)))
        except InvalidDefinitions as invalid:
            for error in invalid.errors:
                invalid.add_note(f"{error.place}: {error}")
            raise

    def run(self, name: str) -> RunResult:
        """One attempt, to its end. A block or a failure is a result, and raises nothing."""
        return self._worker.run_task(self.client.operations.submit(DatasetName(name), WHO))

    def send_again(self, name: str, rule: str | None = None) -> RunResult:
        """Quarantined rows, of one rule or of all, are judged anew; what fails waits again."""
        choice = QuarantineSelection(rules=() if rule is None else (rule,))
        operations = self.client.operations
        return self._worker.run_task(operations.submit_replay(DatasetName(name), WHO, choice))

    def publish(self, name: str, frame: Any) -> RunResult:
        """A frame of ``spark`` for a dataset that says ``build: frame``, or that is not there."""
        return self._task_runner.publish(name, frame)

    def rows(self, address: str) -> list[dict[str, Any]]:
        """What ``silver.orders`` or ``silver.orders@v2`` shows, in one order; without Spark."""
        return self._task_runner.rows(self.client.reader.resolve(parse_address(address)))

    def versions(self, name: str) -> list[VersionRow]:
        """Every version that was promoted, the first one first."""
        found = self.client.reader.versions(DatasetName(name))
        return sorted(found, key=lambda row: row.version)

    def rollback(self, name: str, to: int, reason: str = "a test goes back") -> PointerMove:
        return self.client.operations.rollback(DatasetName(name), to, reason)
