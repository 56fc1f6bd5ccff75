"""Spark reads texts as people do, character for character like the table that DuckDB uses."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from openlaketx.engine.nfkc_text import nfkc_table, nfkc_text
from openlaketx.measure.spark_engine import SPARK

pytestmark = pytest.mark.spark


def test_every_character_of_the_table(spark: SparkSession) -> None:
    changed = [chr(code) for code in nfkc_table()]
    texts = ["", "plain", "a\tb\r\n", "1\x002\x7f", "é", "1\u200b2\uff13", "ﬁ①🅐 ½", None]
    texts += ["a" + "".join(changed[at : at + 20]) + "z" for at in range(0, len(changed), 20)]
    frame = spark.createDataFrame([(text,) for text in texts], "t string")
    found = frame.selectExpr("t", f"{SPARK.nfkc('t')} AS n").collect()
    assert len(found) == len(texts)
    wrong = [row["t"] for row in found if row["n"] != (row["t"] and nfkc_text(row["t"]))]
    assert wrong == []
