"""How an object store is reached: endpoint, region and credentials."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol
from urllib.parse import urlsplit

from pydantic import Field

from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.storage.aws_chain import AwsChain, Credentials

DEFAULT_REGION = "us-east-1"
TIMEOUT_SECONDS = 30
RETRY_SECONDS = 180
_GIVEN_KEYS = "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"
_STANDARD_CHAIN = "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider"
"""Environment, profile, web identity, instance; Hadoop's own default leaves out two of them."""
_TEMPORARY_KEYS = "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider"


_CHAIN = AwsChain()


class StoreAccess(FrozenModel):
    """Access to a store for another process, with the keys of now; never stored or logged."""

    location: str
    endpoint: str
    region: str
    access_key: str = Field(repr=False)
    secret_key: str = Field(repr=False)
    token: str | None = Field(default=None, repr=False)


class Secret(Protocol):
    def resolve(self) -> str:
        """Its current value."""


@dataclass(frozen=True)
class StoreOptions:
    """Options of one store. Without keys, credentials come from the standard chain of the cloud:
    environment, profile, web identity, instance."""

    endpoint: str = ""
    """Empty for the cloud's own."""
    region: str = ""
    access_key: Secret | None = None
    """Of S3 only: the account of Azure is in the location."""
    secret_key: Secret | None = None
    given: Credentials | None = field(default=None, repr=False)
    """Keys that another process passed on."""
    timeout_seconds: int = TIMEOUT_SECONDS
    """For the response to one request."""
    retry_seconds: int = RETRY_SECONDS
    """How long a request is repeated that was not answered, or answered with a 5xx status."""

    @property
    def timeout(self) -> timedelta:
        return timedelta(seconds=self.timeout_seconds)

    @property
    def retry_timeout(self) -> timedelta:
        return timedelta(seconds=self.retry_seconds)

    @property
    def allow_http(self) -> bool:
        return urlsplit(self.endpoint).scheme == "http"

    @classmethod
    def of(cls, access: StoreAccess) -> StoreOptions:
        keys = Credentials(access.access_key, access.secret_key, access.token)
        return cls(access.endpoint, access.region, given=keys)

    def access(self, location: str) -> StoreAccess:
        keys = self.credentials()
        return StoreAccess(
            location=location,
            endpoint=self.endpoint,
            region=self.region,
            access_key=keys.access_key,
            secret_key=keys.secret_key,
            token=keys.token,
        )

    def credentials(self, *, anew: bool = False) -> Credentials:
        """The current ones, which callers do not keep; those of the chain are found anew if that
        is wanted."""
        if self.given is not None:
            return self.given
        if self.access_key is not None and self.secret_key is not None:
            return Credentials(self.access_key.resolve(), self.secret_key.resolve())
        return _CHAIN.renewed() if anew else _CHAIN.current()

    def spark_options(self, bucket: str) -> dict[str, str]:
        """Options of Hadoop's ``s3a`` for one bucket. Spark hides values of keys in its pages."""
        prefix = f"spark.hadoop.fs.s3a.bucket.{bucket}."
        options = {f"{prefix}endpoint.region": self.region or DEFAULT_REGION}
        options[f"{prefix}connection.timeout"] = f"{self.timeout_seconds}s"
        if self.endpoint:
            options[f"{prefix}endpoint"] = self.endpoint
            options[f"{prefix}path.style.access"] = "true"
            options[f"{prefix}connection.ssl.enabled"] = str(not self.allow_http).lower()
        if self.access_key is not None or self.given is not None:
            found = self.credentials()
            options[f"{prefix}access.key"] = found.access_key
            options[f"{prefix}secret.key"] = found.secret_key
            options[f"{prefix}aws.credentials.provider"] = _GIVEN_KEYS
            if found.token:
                options[f"{prefix}session.token"] = found.token
                options[f"{prefix}aws.credentials.provider"] = _TEMPORARY_KEYS
        else:
            options[f"{prefix}aws.credentials.provider"] = _STANDARD_CHAIN
        return options
