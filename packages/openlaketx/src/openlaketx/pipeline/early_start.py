"""Whether a run needs Spark for certain: then its JVM starts before anything else is imported."""

from __future__ import annotations

import glob
from itertools import islice
from pathlib import Path

from lakeguard_sdk.model.run import RunPlan, SourceBuild, SqlBuild
from lakeguard_sdk.storage.run_folders import LANDING
from lakeguard_sdk.storage.storage import is_remote, local_path
from openlaketx.engine.known_files import AT_ONCE, SourceFiles, known_files


def needs_spark(plan: RunPlan, lake: str, reader: SourceFiles) -> bool:
    """True for what was never built, and for a source with files that were never read.

    False says nothing: the run may still find rows to read, or nothing new.
    """
    build = plan.build
    if isinstance(build, SqlBuild):
        return plan.base is None
    if not isinstance(build, SourceBuild) or build.url or not build.path:
        return False
    if is_remote(lake):  # a listing would cost a request, and the run lists anyway
        return False
    base = Path(local_path(lake))
    paths = glob.iglob(build.path, root_dir=base, recursive=True)
    found = (path for path in paths if _is_source(base, path))
    known = known_files(plan, reader)
    while piece := list(islice(found, AT_ONCE)):
        if known is None or len(known.among(piece)) < len(piece):
            return True
    return False


def _is_source(base: Path, path: str) -> bool:
    """Not for markers of other tools and for landed copies, which are no source files."""
    place = base / path
    landed = (base / LANDING) in place.parents
    return not landed and not place.name.startswith(("_", ".")) and place.is_file()
