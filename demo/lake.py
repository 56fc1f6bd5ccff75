"""The demo's lake: recreated each time, using the same calls as the commands."""

from __future__ import annotations

import shutil
from pathlib import Path

from lakeguard.cli.session import person
from lakeguard.cli.terminal.progress import working
from lakeguard.registry.load_folder import load_folder
from lakeguard.services.run_task import published_version, run_to_end
from lakeguard.settings import SETTINGS_FILE, load_settings
from lakeguard_sdk.client import connect, local_worker
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.model.plan import Applied
from lakeguard_sdk.model.read_models import PointerMove, ReplayResult, VersionRow
from lakeguard_sdk.model.run import RunResult

_COPIED = ("definitions", "sql", SETTINGS_FILE)


def make_folder(folder: Path) -> None:
    """An empty lake with the demo's definitions; refuses to replace a folder that is not a lake."""
    if folder.exists():
        if any(folder.iterdir()) and not (folder / SETTINGS_FILE).is_file():
            raise FileExistsError(f"{folder} is not a lake; the demo does not replace it")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    here = Path(__file__).parent
    for name in _COPIED:
        copy = shutil.copytree if (here / name).is_dir() else shutil.copyfile
        copy(here / name, folder / name)


class Lake:
    """A client and one warm worker; all figures come from the ledger."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = connect(folder)
        spark_options = load_settings(folder).spark
        self.worker = local_worker(self.client.for_worker(), spark_options=spark_options)

    def apply(self) -> tuple[Definitions, Applied]:
        definitions = load_folder(self.folder)
        return definitions, self.client.registry.apply(self.client.registry.plan(definitions))

    def run(self, name: str) -> RunResult:
        dataset = DatasetName(name)
        with working(f"running {dataset}"):
            return run_to_end(self.client, self.worker, dataset, person())

    def rollback(self, name: str, to: int, reason: str) -> PointerMove:
        return self.client.operations.rollback(DatasetName(name), to, reason)

    def replay(self, run_id: str) -> ReplayResult:
        return self.client.reader.replay(run_id)

    def published(self, name: str) -> int | None:
        return published_version(self.client, DatasetName(name))

    def version(self, name: str, number: int) -> VersionRow:
        versions = self.client.reader.versions(DatasetName(name))
        return next(row for row in versions if row.version == number)
