"""A file from the web, landed, as the one file of its source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from lakeguard_sdk.evidence import SourceFile, SourcePosition
from lakeguard_sdk.load import NEW_ROWS_ONLY
from lakeguard_sdk.run import RunPlan, SourceBuild
from lakeguard_sdk.words import LoadType
from openlaketx.extract.download import Address, DownloadProblem, downloading
from openlaketx.extract.landing import MANIFEST, Landing
from openlaketx.extract.manifest import Selection

FILE_NAME = "file_name"
TIMEOUT = "timeout_seconds"
_PATIENCE_SECONDS = "60"
_ODD = re.compile(r"[^A-Za-z0-9._-]+")


def land_download(
    plan: RunPlan, build: SourceBuild, lake: str, landing: Landing
) -> Selection | None:
    """The file as it came; None where a load of new rows had this very content already."""
    name = file_name(build, plan.settings)
    seconds = _seconds(plan.settings, landing)
    address = Address.of(build.url, build.secrets)
    try:
        with downloading(address, seconds, packed=name.endswith(".gz")) as chunks:
            received = landing.receive(name, build.url, chunks)
    except DownloadProblem as problem:
        told = landing.unavailable if problem.passing else landing.unreadable
        raise told(str(problem)) from None
    file = SourceFile(path=name, size=received.size, modified_ms=0, sha256=received.sha256)
    known = build.position.files if build.position else ()
    if plan.load.type in NEW_ROWS_ONLY and file.sha256 in (before.sha256 for before in known):
        return None
    # What an APPEND once read it must never read again. Other loads may meet an old state anew.
    kept = known if plan.load.type is LoadType.APPEND else ()
    return Selection(
        source=build.source,
        dataset=str(plan.dataset),
        root=lake,
        files=(file,),
        position=SourcePosition(files=(*kept, file)),
        places={name: str(landing.place(name))},
        landed=True,
    )


def file_name(build: SourceBuild, settings: Mapping[str, str]) -> str:
    """The setting's name, else the last of the address's path, else the source's own."""
    path = urlsplit(build.url).path
    last = unquote(PurePosixPath(path).name)
    name = settings.get(FILE_NAME) or ("" if "{" in last else last)
    name = _ODD.sub("_", name).lstrip("._")
    return name if name and name != MANIFEST else f"{build.source}.{build.format}"


def _seconds(settings: Mapping[str, str], landing: Landing) -> float:
    text = settings.get(TIMEOUT, _PATIENCE_SECONDS)
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3600:
        raise landing.unreadable(f"{TIMEOUT} is a number of seconds up to 3600, not {text!r}")
    return seconds
