"""Keys for a while, as AWS's service STS issues them, for a store that knows fixed keys only.

A proxy checks that the keys of a request were issued and have not ended, and signs the request
again with the fixed ones, which the store checks.
"""

from __future__ import annotations

import itertools
import re
import secrets
import threading
from datetime import UTC, datetime, timedelta

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from lakeguard_sdk.storage.store_options import Credentials as Keys

_KEY = re.compile(r"Credential=([^/]+)/")
_SIGNED = re.compile(r"x-amz-(?!security-token$).*|content-md5|content-type|if-.*|range", re.I)
_ISSUED = """\
<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
 <AssumeRoleWithWebIdentityResult><Credentials>
  <AccessKeyId>{key}</AccessKeyId><SecretAccessKey>{secret}</SecretAccessKey>
  <SessionToken>{token}</SessionToken><Expiration>{end}</Expiration>
 </Credentials></AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>"""


class TemporaryKeys:
    """``identity`` is the web identity that gets keys."""

    def __init__(self, identity: str, access_key: str, secret_key: str) -> None:
        self.identity = identity
        self.issued: list[str] = []
        self._fixed = Credentials(access_key, secret_key)
        self._tokens: dict[str, str] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def issue(self, form: dict[str, str]) -> str | None:
        """The answer of ``AssumeRoleWithWebIdentity``; None for anybody else."""
        if form.get("WebIdentityToken") != self.identity:
            return None
        key, secret, token = self.new()
        end = datetime.now(UTC) + timedelta(hours=1)
        return _ISSUED.format(key=key, secret=secret, token=token, end=f"{end:%Y-%m-%dT%H:%M:%SZ}")

    def new(self) -> Keys:
        with self._lock:
            key, token = f"ASIATEST{next(self._numbers):08d}", secrets.token_hex(16)
            self._tokens[key] = token
            self.issued.append(key)
        return Keys(key, secrets.token_hex(16), token)

    def end(self) -> None:
        """All that were issued until now."""
        with self._lock:
            self._tokens.clear()

    def are_good(self, headers: dict[str, str]) -> bool:
        found = _KEY.search(headers.get("authorization", ""))
        with self._lock:
            token = self._tokens.get(found[1]) if found else None
        return token is not None and token == headers.get("x-amz-security-token")

    def signed_again(
        self, method: str, url: str, headers: dict[str, str], body: bytes
    ) -> dict[str, str]:
        kept = {name: value for name, value in headers.items() if _SIGNED.fullmatch(name)}
        kept.pop("x-amz-date", None)
        request = AWSRequest(method=method, url=url, headers=kept, data=body)
        S3SigV4Auth(self._fixed, "s3", "us-east-1").add_auth(request)
        return dict(request.headers.items())
