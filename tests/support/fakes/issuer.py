"""A small OpenID Connect issuer on this machine: discovery, a key set, and tokens."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

AUDIENCE = "lakeguard-tests"


@cache
def rsa_key(number: int) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@cache
def ec_key(number: int) -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


class Issuer:
    """Signs with the key ``current``; its key set has all of ``published``."""

    def __init__(self) -> None:
        self.current = "first"
        self.keys: dict[str, Any] = {"first": rsa_key(1)}
        self.published = {"first"}
        self.asked: list[str] = []
        self.status = 200
        self.url = ""
        self.key_set_url = ""

    def rotate(self, name: str, *, keep: bool = False) -> None:
        self.keys[name] = ec_key(len(self.keys))
        self.published = {*(self.published if keep else ()), name}
        self.current = name

    def token(
        self, user: str = "ada", *, headers: dict[str, Any] | None = None, **claims: Any
    ) -> str:
        """A claim given as None is left out."""
        named = {"typ": "JWT", "kid": self.current, **(headers or {})}
        header = {name: value for name, value in named.items() if value is not None}
        return self.signed(header, self.claims(user, **claims))

    def signed(self, header: dict[str, Any], claims: dict[str, Any]) -> str:
        """With whatever header; the algorithm is that of the key."""
        key = self.keys[self.current]
        is_rsa = isinstance(key, rsa.RSAPrivateKey)
        text = f"{part({'alg': _name(key), **header})}.{part(claims)}"
        algorithm: Any = RSAAlgorithm(RSAAlgorithm.SHA256) if is_rsa else _ES256
        return f"{text}.{packed(algorithm.sign(text.encode(), key))}"

    def claims(self, user: str = "ada", **claims: Any) -> dict[str, Any]:
        now = int(time.time())
        full = {"iss": self.url, "aud": AUDIENCE, "sub": user, "iat": now, "exp": now + 600}
        return {name: value for name, value in {**full, **claims}.items() if value is not None}

    def key_set(self) -> dict[str, Any]:
        return {"keys": [_public(self.keys[name], name) for name in sorted(self.published)]}

    def answer(self, path: str) -> dict[str, Any]:
        if path == "/.well-known/openid-configuration":
            return {"issuer": self.url, "jwks_uri": self.key_set_url}
        return self.key_set()


def part(data: object) -> str:
    return packed(json.dumps(data).encode())


def packed(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


_ES256 = ECAlgorithm(ECAlgorithm.SHA256)


def _name(key: Any) -> str:
    return "RS256" if isinstance(key, rsa.RSAPrivateKey) else "ES256"


def _public(key: Any, name: str) -> dict[str, Any]:
    is_rsa = isinstance(key, rsa.RSAPrivateKey)
    algorithm = RSAAlgorithm if is_rsa else ECAlgorithm
    listed = json.loads(algorithm.to_jwk(key.public_key()))
    return {**listed, "kid": name, "use": "sig", "alg": _name(key)}


@contextmanager
def issuing() -> Iterator[Issuer]:
    issuer = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.asked.append(self.path)
            body = json.dumps(issuer.answer(self.path)).encode()
            self.send_response(issuer.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer.url = f"http://127.0.0.1:{server.server_address[1]}"
    issuer.key_set_url = f"{issuer.url}/keys"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
