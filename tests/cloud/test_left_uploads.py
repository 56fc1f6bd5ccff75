"""Uploads in parts that a crashed process left in an S3 server."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.session import Session

from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.table_operations import RemovalKind
from lakeguard_sdk.storage.unfinished_uploads import abort_upload
from tests.support.lakes.s3_server import ACCESS_KEY, SECRET_KEY, S3Server, StorePath
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project

TWO_DAYS = 2 * 86_400
PART = b"rows" * 1000


class Uploads:
    """Uploads that are begun and left."""

    def __init__(self, server: S3Server, place: StorePath) -> None:
        self.server = server
        self.bucket, _, self.folder = str(place).removeprefix("s3://").partition("/")
        self.client: Any = Session().create_client(
            "s3",
            region_name="us-east-1",
            endpoint_url=server.endpoint,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
        )

    def leave(self, name: str, age_seconds: int = 0) -> str:
        """Its location, with its id, as maintenance names it."""
        names = {"Bucket": self.bucket, "Key": f"{self.folder}/{name}"}
        made = self.client.create_multipart_upload(**names)["UploadId"]
        self.client.upload_part(**names, UploadId=made, PartNumber=1, Body=PART)
        if age_seconds:
            (held,) = (self.server.folder / self.bucket).glob(f".sgwtmp/multipart/*/{made}")
            then = time.time() - age_seconds
            os.utime(held, (then, then))
        return f"s3://{self.bucket}/{names['Key']}?uploadId={made}"

    def there(self) -> set[str]:
        found = self.client.list_multipart_uploads(Bucket=self.bucket).get("Uploads", ())
        return {
            f"s3://{self.bucket}/{one['Key']}?uploadId={one['UploadId']}"
            for one in found
            if one["Key"].startswith(self.folder)
        }


@pytest.fixture
def uploads(s3_server: S3Server, store: StorePath) -> Uploads:
    return Uploads(s3_server, store)


@pytest.fixture
def client(s3_server: S3Server, store: StorePath, tmp_path: Path) -> Iterator[Client]:
    with s3_server.lakes_in(store):
        numbers_project(tmp_path, LoadType.APPEND)
        yield connect(tmp_path)


def test_maintenance_aborts_old_uploads_and_leaves_young_ones(
    client: Client, uploads: Uploads
) -> None:
    young = uploads.leave("bronze/numbers/runs/run_2/part.parquet")
    old = {
        uploads.leave("bronze/numbers/runs/run_1/part.parquet", TWO_DAYS),
        uploads.leave("quarantine/bronze/numbers/part.parquet", TWO_DAYS),
    }
    (planned,) = client.operations.maintain(NUMBERS, dry_run=True).removals
    assert uploads.there() == {young, *old}
    (made,) = client.operations.maintain(NUMBERS).removals
    assert made == planned
    assert (made.kind, set(made.paths), made.bytes) == (RemovalKind.UPLOADS, old, 2 * len(PART))
    assert uploads.there() == {young}
    assert client.operations.maintain(NUMBERS).removals == ()


def test_uploads_of_other_lakes_are_left_alone(
    client: Client, uploads: Uploads, s3_server: S3Server, bucket: StorePath
) -> None:
    beside = Uploads(s3_server, bucket / f"{uploads.folder}-beside")
    other = beside.leave("bronze/numbers/runs/run_1/part.parquet", TWO_DAYS)
    assert client.operations.maintain(NUMBERS).removals == ()
    assert beside.there() == {other}


def test_an_upload_that_is_gone_is_no_error(uploads: Uploads, bucket: StorePath) -> None:
    left = uploads.leave("part.parquet")
    abort_upload(left)
    abort_upload(left)
    assert uploads.there() == set()
