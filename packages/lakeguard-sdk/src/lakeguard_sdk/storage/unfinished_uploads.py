"""Uploads in parts that a process began and did not finish. S3 keeps their parts, and charges for
them, until somebody aborts the upload; no listing of objects shows them.

``obstore`` neither lists nor aborts them, so ``botocore`` does. Folders have none, and Azure itself
removes blocks that were not committed within a week.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from lakeguard_sdk.storage.object_store import StoreError
from lakeguard_sdk.storage.storage import is_remote, store_options
from lakeguard_sdk.storage.store_options import DEFAULT_REGION

_ID = "?uploadId="
_ENDED = frozenset({"NoSuchUpload"})
_NOT_SHOWN = frozenset({"AccessDenied", "MethodNotAllowed", "NotImplemented"})


class UnfinishedUpload(NamedTuple):
    location: str
    """Of the object that it would have become, with the id of the upload as ``?uploadId=``; never
    the location of an object."""
    started: datetime
    size: int
    """Bytes of the parts so far."""


def unfinished_uploads(folder: str, until: datetime) -> list[UnfinishedUpload]:
    """Those below a folder that began before ``until``, sorted; none where the store does not let
    this process see them."""
    if not _has_uploads(folder):
        return []
    parts, found = urlsplit(folder), list[UnfinishedUpload]()
    with _translated(folder, none_if=_NOT_SHOWN):
        client = _client(folder)
        pages = client.get_paginator("list_multipart_uploads").paginate(
            Bucket=parts.netloc, Prefix=f"{parts.path.strip('/')}/".lstrip("/")
        )
        for page in pages:
            old = (one for one in page.get("Uploads", ()) if one["Initiated"] < until)
            for upload in old:
                with _translated(folder, none_if=_ENDED | _NOT_SHOWN):
                    found.append(_described(client, parts.netloc, upload))
    return sorted(found)


def abort_upload(location: str) -> None:
    """Discard the parts; nothing happens if the upload was finished or aborted meanwhile."""
    place, _, upload_id = location.rpartition(_ID)
    parts = urlsplit(place)
    key = place.removeprefix(f"{parts.scheme}://{parts.netloc}/")
    with _translated(place, none_if=_ENDED):
        _client(place).abort_multipart_upload(Bucket=parts.netloc, Key=key, UploadId=upload_id)


def _has_uploads(folder: str) -> bool:
    return is_remote(folder) and urlsplit(folder).scheme == "s3"


def _described(client: Any, bucket: str, upload: dict[str, Any]) -> UnfinishedUpload:
    key, upload_id = upload["Key"], upload["UploadId"]
    pages = client.get_paginator("list_parts").paginate(Bucket=bucket, Key=key, UploadId=upload_id)
    size = sum(part["Size"] for page in pages for part in page.get("Parts", ()))
    return UnfinishedUpload(f"s3://{bucket}/{key}{_ID}{upload_id}", upload["Initiated"], size)


def _client(location: str) -> Any:
    from botocore.config import Config
    from botocore.session import Session

    options = store_options(location)
    keys = options.credentials()
    style = {"addressing_style": "path"} if options.endpoint else {}
    return Session().create_client(
        "s3",
        region_name=options.region or DEFAULT_REGION,
        endpoint_url=options.endpoint or None,
        aws_access_key_id=keys.access_key,
        aws_secret_access_key=keys.secret_key,
        aws_session_token=keys.token,
        config=Config(s3=style, connect_timeout=10, read_timeout=30),
    )


@contextmanager
def _translated(location: str, none_if: frozenset[str]) -> Iterator[None]:
    """Errors of the store as OSError; those with the codes of ``none_if`` end the block."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        if code not in none_if:
            raise StoreError(f"{location}: {code or 'the store refused'}") from None
    except BotoCoreError as error:
        raise StoreError(f"{location}: {type(error).__name__}") from None
