"""An Azure server for tests: the blob service of Azurite in memory, on a free port of this machine.

It is the emulator of Azure's own project. What it shows is its behaviour, not that of the cloud.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path

from lakeguard_sdk.storage.storage import register_store
from lakeguard_sdk.storage.store_options import StoreOptions
from setup.azure_server import server_script
from tests.support.lakes.s3_server import Given, StorePath, free_port, wait_for

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""Account and key of every Azurite, as its documentation prints them."""
_VERSION = "2023-11-03"


@dataclass(frozen=True)
class AzureServer:
    port: int

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}/{ACCOUNT}"

    @property
    def options(self) -> StoreOptions:
        return StoreOptions(self.endpoint, secret_key=Given(KEY))

    def location(self, container: str) -> str:
        return f"abfss://{container}@{ACCOUNT}.dfs.core.windows.net"

    def new_container(self, name: str) -> StorePath:
        self._create(name)
        location = self.location(name)
        register_store(location, self.options)
        return StorePath(location)

    def _create(self, name: str) -> None:
        """``obstore`` creates no containers."""
        now = formatdate(usegmt=True)
        place = f"/{ACCOUNT}/{name}"
        headers = {"x-ms-date": now, "x-ms-version": _VERSION}
        named = [f"{key}:{value}" for key, value in headers.items()]
        signed = "\n".join(["PUT", *[""] * 11, *named, f"/{ACCOUNT}{place}", "restype:container"])
        digest = hmac.new(base64.b64decode(KEY), signed.encode(), hashlib.sha256).digest()
        headers["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("PUT", f"{place}?restype=container", headers=headers)
        answer = connection.getresponse()
        connection.close()
        assert answer.status == http.HTTPStatus.CREATED, answer.reason


@contextmanager
def running_azure(folder: Path) -> Iterator[AzureServer]:
    port = free_port()
    command = ["node", str(server_script()), "--blobHost", "127.0.0.1", "--blobPort", str(port)]
    command += ["--inMemoryPersistence", "--silent", "--disableTelemetry"]
    command += ["--skipApiVersionCheck"]  # clients may be newer than the server
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        wait_for(port, process)
        yield AzureServer(port)
    finally:
        process.terminate()
        process.wait(10)
