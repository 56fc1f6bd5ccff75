"""A throw-away lake: a folder with its own settings, SQLite, and the installed worker."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from lakeguard_sdk.client import Client, Worker, connect, local_worker
from lakeguard_sdk.errors import InvalidDefinitions, WrongArgument
from lakeguard_sdk.names import DatasetName, parse_address
from lakeguard_sdk.planning import Applied
from lakeguard_sdk.quarantine import KeptChoice
from lakeguard_sdk.reading import PointerMove, VersionRow
from lakeguard_sdk.run import RunResult
from lakeguard_sdk.testing.planes import Bench, local_bench, read_folder
from lakeguard_sdk.testing.texts import Rows, definition_files, file_text

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
    def _bench(self) -> Bench:
        return local_bench(self.client, self._spark_options)

    @property
    def spark(self) -> Any:
        """The session of the process, on which runs work too."""
        return self._bench.spark()

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
            return registry.apply(registry.plan(read_folder(self.folder)))
        except InvalidDefinitions as invalid:
            for error in invalid.errors:
                invalid.add_note(f"{error.place}: {error}")
            raise

    def run(self, name: str) -> RunResult:
        """One attempt, to its end. A block or a failure is a result, and raises nothing."""
        return self._worker.run_task(self.client.operations.submit(DatasetName(name), WHO))

    def send_again(self, name: str, rule: str | None = None) -> RunResult:
        """Rows that wait, of one rule or of all, are judged anew; what fails waits again."""
        choice = KeptChoice(rules=() if rule is None else (rule,))
        operations = self.client.operations
        return self._worker.run_task(operations.submit_replay(DatasetName(name), WHO, choice))

    def publish(self, name: str, frame: Any) -> RunResult:
        """A frame of ``spark`` for a dataset that says ``build: frame``, or that is not there."""
        return self._bench.publish(name, frame)

    def rows(self, address: str) -> list[dict[str, Any]]:
        """What ``silver.orders`` or ``silver.orders@v2`` shows, in one order; without Spark."""
        return self._bench.rows(self.client.reader.resolve(parse_address(address)))

    def versions(self, name: str) -> list[VersionRow]:
        """Every version that was promoted, the first one first."""
        found = self.client.reader.versions(DatasetName(name))
        return sorted(found, key=lambda row: row.version)

    def rollback(self, name: str, to: int, reason: str = "a test goes back") -> PointerMove:
        return self.client.operations.rollback(DatasetName(name), to, reason)
