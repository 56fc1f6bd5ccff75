"""Conversion of errors to the ``Failure`` sent to the control plane."""

from __future__ import annotations

import errno
import os
import re
from urllib.parse import unquote

from lakeguard_sdk.errors import DiskFull, FileDamaged, LakeGuardError, StoreUnavailable
from lakeguard_sdk.model.run import Failure, RunPlan
from lakeguard_sdk.model.run import failure_of as known_failure
from lakeguard_sdk.storage.storage import below, is_below, is_remote, table_uri
from lakeguard_sdk.storage.store_errors import store_failure
from openlaketx.engine.locations import location_of

_LONGEST = 500
_NO_SPACE = os.strerror(errno.ENOSPC)
_CHECKSUM = re.compile(r"Checksum error: file:/*(/\S+\.parquet)")
_PAGES = "its content does not match its checksums"


def explained(error: Exception, plan: RunPlan) -> Exception:
    """What caused an error, whoever was blamed for it: the object store, the disk or a file."""
    return (
        lost_store(error, plan.location)
        or full_disk(error, plan.dataset)
        or damaged_file(error, plan)
        or error
    )


def lost_store(error: Exception, location: str) -> StoreUnavailable | None:
    """If the table is in an object store that was unavailable."""
    return store_failure(error, location) if is_remote(location) else None


def full_disk(error: BaseException, dataset: str) -> DiskFull | None:
    """A full disk explains any error that it caused, whoever was blamed for it."""
    seen: BaseException | None = error
    while seen is not None:
        if getattr(seen, "errno", None) == errno.ENOSPC or _NO_SPACE in str(seen):
            return DiskFull(dataset=dataset)
        seen = seen.__cause__ or seen.__context__
    return None


def damaged_file(error: BaseException, plan: RunPlan) -> FileDamaged | None:
    """The file of a governed table whose pages did not match their checksums, if an error or its
    cause names it."""
    tables = {
        pin.snapshot.location: str(pin.input.dataset) for pin in (*plan.pins, *plan.references)
    }
    tables[plan.location] = str(plan.dataset)
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, FileDamaged):
        found = _CHECKSUM.search(str(seen))
        for location, dataset in tables.items():
            place = location_of(unquote(found[1])) if found else ""
            if is_below(place, table_uri(location)):
                path = below(place, location)
                return FileDamaged(dataset=dataset, path=path, problem=_PAGES)
        seen = seen.__cause__ or seen.__context__
    return None


def failure_of(error: Exception) -> Failure:
    """One line of bounded length; only a ``LakeGuardError`` can be retryable."""
    text = next((line for line in str(error).splitlines() if line.strip()), "")
    if isinstance(error, LakeGuardError):
        return known_failure(error).model_copy(update={"message": text[:_LONGEST]})
    message = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return Failure(code=LakeGuardError.code, message=message[:_LONGEST])
