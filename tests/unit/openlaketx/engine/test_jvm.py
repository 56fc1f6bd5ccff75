"""Where Spark gets the keys of object stores, and where it does not."""

from __future__ import annotations

from pyspark import SparkConf

from lakeguard_sdk.storage.storage import register_store
from lakeguard_sdk.storage.store_options import Credentials, StoreOptions
from openlaketx.engine.spark.jvm import as_arguments
from openlaketx.engine.spark.session import with_stores


def test_keys_of_a_store_are_no_arguments() -> None:
    options = StoreOptions("https://s3.example.com", given=Credentials("id", "key", "token"))
    given = {"spark.app.name": "mine", **options.spark_options("lake")}
    conf = SparkConf(loadDefaults=False).setAll(list(given.items()))
    assert as_arguments(conf).getAll() == [("spark.app.name", "mine")]
    assert dict(conf.getAll()) == given


def test_a_server_of_others_is_sent_no_keys() -> None:
    """It is shared, and Hadoop there would not take them from a session."""
    register_store("s3://keys", StoreOptions(given=Credentials("id", "key-of-keys", "token")))
    server = {"spark.remote": "sc://spark.example:15002", "spark.app.name": "mine"}
    assert with_stores(server) == server
    assert "key-of-keys" in with_stores({"spark.master": "local[2]"}).values()
