"""Frames and streams of a program, published to a lake in an object store."""

from __future__ import annotations

import json
from pathlib import Path

import openlaketx
from lakeguard_sdk import DatasetName
from openlaketx.engine.spark.session import spark_session
from tests.support.lakes.s3_server import S3Server, StorePath
from tests.support.projects.folders import applied

WORDS = """\
dataset: silver.words
owner: tests
domain: shop
build: frame
load: {type: INCREMENTAL, keys: [k]}
columns:
  k: {type: long}
  word: {type: string}
"""


def test_frames_and_micro_batches_are_merged_by_the_process_of_the_gate(
    tmp_path: Path, s3_server: S3Server, store: StorePath
) -> None:
    spark = spark_session(s3_server.options.spark_options("lakes"), delta=True)
    settings = f"[env.dev]\n{s3_server.settings_of(store)}"
    applied(tmp_path, {"lakeguard.toml": settings, "definitions/silver/words.yaml": WORDS}).close()
    with openlaketx.connect(tmp_path) as tx:
        for rows in ([(1, "one"), (2, "two")], [(2, "zwei"), (3, "three")]):
            frame = spark.createDataFrame(rows, "k long, word string")
            tx.publish("silver.words", frame).raise_if_blocked()
        land(tmp_path / "landing")
        events = spark.readStream.schema("k long, word string").json(str(tmp_path / "landing"))
        for _ in range(2):  # the second one finds nothing new
            tx.stream(
                "silver.words",
                events,
                checkpoint=tmp_path / "checkpoint",
                trigger={"availableNow": True},
            ).awaitTermination()
        found = tx.read(spark, "silver.words@v3").collect()
        assert len(tx._client.reader.versions(DatasetName("silver.words"))) == 3
    assert sorted(map(tuple, found)) == [(1, "one"), (2, "zwei"), (3, "drei"), (4, "four")]


def land(folder: Path) -> None:
    folder.mkdir()
    rows = [{"k": 3, "word": "drei"}, {"k": 4, "word": "four"}]
    (folder / "words.json").write_text("\n".join(map(json.dumps, rows)))
