"""Kafka for ``make cloud``: the jars of a broker, and those by which Spark reads it.

Downloaded by Maven coordinate and locked with hashes, like those of the product, which has none of
them: ``python -m setup.kafka_broker`` downloads what is missing.
"""

from __future__ import annotations

from pathlib import Path

import pyspark

from openlaketx.engine.spark.jars import JarSet, fetch

_LOCKS = Path(__file__).absolute().parent / "kafka"
_TOKENS = "org.apache.spark:spark-token-provider-kafka-0-10_2.13"

BROKER = JarSet(
    "Kafka", ("org.apache.kafka:kafka_2.13:3.9.2",), ("none:none",), str(_LOCKS / "broker.lock")
)
CONNECTOR = JarSet(
    "Spark's connector of Kafka",
    ("org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",),
    # Spark has the others; its tokens are resolved alone.
    (
        _TOKENS,
        "com.*:*",
        "org.slf4j:*",
        "at.*:*",
        "org.xerial.snappy:*",
        "org.scala-lang.modules:*",
        "org.apache.hadoop:*",
    ),
    str(_LOCKS / "connector.lock"),
)
TOKENS = JarSet(
    "tokens of Kafka",
    (f"{_TOKENS}:4.0.0",),
    ("org.apache.kafka:*", "org.apache.hadoop:*", "com.*:*"),
    str(_LOCKS / "tokens.lock"),
)
"""Not every mirror of Maven Central has a later one. The connector loads it and, without Kerberos,
asks it for nothing."""


def broker_class_path() -> str:
    """Of a JVM that runs ``kafka.Kafka``; the Scala library is Spark's."""
    scala = Path(pyspark.__file__).parent.glob("jars/scala-library-*.jar")
    return ":".join(map(str, [*fetch(BROKER), *scala]))


def connector_jars() -> list[Path]:
    return [*fetch(CONNECTOR), *fetch(TOKENS)]


if __name__ == "__main__":
    print(broker_class_path(), *connector_jars(), sep="\n")
