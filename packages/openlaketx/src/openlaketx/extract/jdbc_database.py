"""A PostgreSQL database as Spark asks it; user and password are known to Spark alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pyspark.sql import DataFrame, Row, SparkSession

from lakeguard_sdk.errors import JarsMissing, LakeGuardError, SourceUnreadable
from lakeguard_sdk.run import SourceBuild
from lakeguard_sdk.secret_references import resolve_all, without
from openlaketx.engine.spark_errors import SPARK_ERRORS, causes, reason

_DRIVER = "org.postgresql.Driver"
_SCHEME = "jdbc:postgresql:"
_ROWS_AT_ONCE = "10000"
_CONNECT_SECONDS = "10"

Answer = TypeVar("Answer")


@dataclass(frozen=True, repr=False)
class Database:
    """Where to ask, and how to tell what went wrong without what nobody may see."""

    session: SparkSession
    build: SourceBuild
    dataset: str
    secrets: dict[str, str]

    @classmethod
    def of(cls, session: SparkSession, build: SourceBuild, dataset: str) -> Database:
        """Raises where the address is of another kind, or a secret is not to be had."""
        if not build.url.startswith(_SCHEME):
            raise SourceUnreadable(
                source=build.source,
                reason=f"its url does not start with {_SCHEME}",
                dataset=dataset,
            )
        return cls(session, build, dataset, resolve_all(build.secrets))

    def frame(self, query: str, predicates: list[str] | None = None) -> DataFrame:
        """The rows of the query, not computed; one slice for each predicate."""
        url, table = self._filled(self.build.url), f"({query}) AS lg_rows"
        read = self.session.read.jdbc
        if predicates:
            return self._asked(
                lambda: read(url, table, predicates=predicates, properties=self._properties())
            )
        return self._asked(lambda: read(url, table, properties=self._properties()))

    def answer(self, query: str) -> list[Row]:
        return self._asked(self.frame(query).collect)

    def unreadable(self, why: str) -> SourceUnreadable:
        told = without(why, self.secrets.values())
        return SourceUnreadable(source=self.build.source, reason=told, dataset=self.dataset)

    def explain(self, error: Exception) -> LakeGuardError:
        if causes(error)[-1].strip() == _DRIVER:
            return JarsMissing(reason=f"this Spark was started without {_DRIVER}")
        return self.unreadable(reason(error))

    def _asked(self, ask: Callable[[], Answer]) -> Answer:
        try:
            return ask()
        except SPARK_ERRORS as error:
            raise self.explain(error) from None

    def _filled(self, url: str) -> str:
        for name, value in self.secrets.items():
            url = url.replace("{" + name + "}", value)
        return url

    def _properties(self) -> dict[str, str]:
        return {
            "driver": _DRIVER,
            "fetchsize": self.build.options.get("fetch_size", _ROWS_AT_ONCE),
            "connectTimeout": _CONNECT_SECONDS,
            "ApplicationName": "openlaketx",
            **{key: self.secrets[key] for key in ("user", "password") if key in self.secrets},
        }
