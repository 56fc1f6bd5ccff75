"""Arguments of Spark's JVM."""

from __future__ import annotations

from pyspark import SparkConf

from lakeguard_sdk.storage.store_options import Credentials, StoreOptions
from openlaketx.engine.spark.jvm import as_arguments


def test_keys_of_a_store_are_no_arguments() -> None:
    options = StoreOptions("https://s3.example.com", given=Credentials("id", "key", "token"))
    given = {"spark.app.name": "mine", **options.spark_options("lake")}
    conf = SparkConf(loadDefaults=False).setAll(list(given.items()))
    assert as_arguments(conf).getAll() == [("spark.app.name", "mine")]
    assert dict(conf.getAll()) == given
