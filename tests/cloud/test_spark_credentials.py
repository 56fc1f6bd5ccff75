"""Keys that Spark gets, or finds by the standard chain of AWS."""

from __future__ import annotations

from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

from lakeguard_sdk.storage.storage import join, storage_for
from lakeguard_sdk.storage.store_options import StoreOptions
from openlaketx.engine.spark.session import spark_session
from tests.support.lakes.s3_server import ACCESS_KEY, SECRET_KEY, S3Server, StorePath

BUCKET = "spark-chain"


def test_spark_follows_the_standard_chain(s3_server: S3Server, bucket: StorePath) -> None:
    place = str(s3_server.new_bucket(BUCKET))
    storage_for(place).create(join(place, "a.csv"), b"1\n2\n")
    spark = spark_session(s3_server.options.spark_options("lakes"), delta=True)
    _configure(spark, StoreOptions(s3_server.endpoint, "us-east-1"))
    assert spark.read.csv(f"s3a://{BUCKET}/a.csv").count() == 2


def test_keys_are_no_arguments_of_the_jvm(s3_server: S3Server, bucket: StorePath) -> None:
    """Every user of the machine can list those."""
    spark = spark_session(s3_server.options.spark_options("lakes"), delta=True)
    assert spark.conf.get("spark.hadoop.fs.s3a.bucket.lakes.secret.key") == SECRET_KEY
    gateway = SparkContext._gateway
    assert gateway is not None
    arguments = Path(f"/proc/{gateway.proc.pid}/cmdline").read_text()
    assert "pyspark-shell" in arguments
    assert ACCESS_KEY not in arguments
    assert SECRET_KEY not in arguments


def _configure(spark: SparkSession, options: StoreOptions) -> None:
    """Properties of the JVM stand for the variables of the environment that it started with."""
    jvm = spark._jvm
    assert jvm is not None
    settings = spark._jsc.hadoopConfiguration()
    for name, value in options.spark_options(BUCKET).items():
        settings.set(name.removeprefix("spark.hadoop."), value)
    jvm.java.lang.System.setProperty("aws.accessKeyId", ACCESS_KEY)
    jvm.java.lang.System.setProperty("aws.secretAccessKey", SECRET_KEY)
