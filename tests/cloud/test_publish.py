"""Frames of a program, published to a lake in an object store."""

from __future__ import annotations

from pathlib import Path

import openlaketx
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


def test_a_published_frame_is_merged_by_the_process_of_the_gate(
    tmp_path: Path, s3_server: S3Server, store: StorePath
) -> None:
    spark = spark_session(s3_server.options.spark_options("lakes"), delta=True)
    settings = f"[env.dev]\n{s3_server.settings_of(store)}"
    applied(tmp_path, {"lakeguard.toml": settings, "definitions/silver/words.yaml": WORDS}).close()
    with openlaketx.connect(tmp_path) as tx:
        for rows in ([(1, "one"), (2, "two")], [(2, "zwei"), (3, "three")]):
            frame = spark.createDataFrame(rows, "k long, word string")
            tx.publish("silver.words", frame).raise_if_blocked()
        found = tx.read(spark, "silver.words").collect()
    assert sorted(map(tuple, found)) == [(1, "one"), (2, "zwei"), (3, "three")]
