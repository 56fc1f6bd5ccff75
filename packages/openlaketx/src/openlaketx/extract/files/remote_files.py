"""Source files in an object store: copied to this machine before they are read.

A Spark on other machines reads them in the store; this process still looks at texts line by line.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from lakeguard_sdk.core.enums import SourceFormat
from lakeguard_sdk.model.evidence import SourceFile
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.storage import Storage, is_remote, join
from openlaketx.engine.locations import spark_is_here, writable_path
from openlaketx.extract.files.manifest import Selection

_FOLDER = ".sources"
_AT_ONCE = 8
_CHUNK = 8 << 20


def copies_folder(plan: RunPlan) -> str:
    """Beside the staged files; nothing of it is ever uploaded."""
    return join(plan.location, f"{plan.staging.rstrip('/')}{_FOLDER}")


def with_copies_here(
    selection: Selection, plan: RunPlan, source: SourceFormat, storage: Storage
) -> Selection:
    """The same files, to be read from copies in the run's staging area; a file that changed while
    it was copied fails the run. Local files are read where they are."""
    remote = [file for file in selection.files if is_remote(selection.origin(file))]
    if not remote or (source is SourceFormat.PARQUET and not spark_is_here()):
        return selection
    folder = copies_folder(plan)

    def copied(item: tuple[int, SourceFile]) -> tuple[str, str]:
        number, file = item
        name = file.path.rpartition("/")[2]
        place = writable_path(join(folder, f"{number:06d}", name))
        place.parent.mkdir(parents=True, exist_ok=True)
        with storage.open(selection.origin(file)) as content, place.open("xb") as copy:
            while chunk := content.read(_CHUNK):
                copy.write(chunk)
        selection.confirm_file(file, storage)
        return file.path, str(place)

    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="sources") as pool:
        places = dict(pool.map(copied, enumerate(remote)))
    origins = {} if spark_is_here() else {places[f.path]: selection.origin(f) for f in remote}
    return replace(selection, places={**selection.places, **places}, copies=origins)
