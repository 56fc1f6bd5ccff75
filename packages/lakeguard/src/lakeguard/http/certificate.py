"""The TLS certificate of a service, from files that may be replaced while it runs."""

from __future__ import annotations

import logging
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lakeguard_sdk.errors import CertificateUnusable

_log = logging.getLogger(__name__)
RELOAD_SECONDS = 60.0
_Stamp = tuple[int, int]


@dataclass
class Certificate:
    """Raises ``CertificateUnusable``, also for a key with a password."""

    chain: Path
    key: Path
    context: ssl.SSLContext = field(init=False)
    _loaded: tuple[_Stamp, _Stamp] = field(init=False)

    def __post_init__(self) -> None:
        self._loaded = self._stamps()
        self._load(_server_context())  # validates the pair before a context is changed
        self.context = _server_context()
        self._load(self.context)

    def reload(self) -> bool:
        """Use replaced files for new connections; returns whether there were any. An invalid pair
        is logged and not used."""
        try:
            stamps = self._stamps()
            if stamps == self._loaded:
                return False
            self._load(_server_context())
            self._load(self.context)
        except CertificateUnusable as error:
            _log.warning("the certificate stays as it was: %s", error)
            return False
        self._loaded = stamps
        return True

    @contextmanager
    def reloading(self, seconds: float = RELOAD_SECONDS) -> Iterator[None]:
        """Reloads replaced files in the background."""
        ended = threading.Event()

        def look() -> None:
            while not ended.wait(seconds):
                self.reload()

        thread = threading.Thread(target=look, name="certificate", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _load(self, context: ssl.SSLContext) -> None:
        try:
            context.load_cert_chain(self.chain, self.key, password=_no_password)
        except ssl.SSLError as error:
            reason = error.reason or "it is not a certificate with its key, in PEM"
            raise CertificateUnusable(file=str(self.chain), reason=reason) from None
        except OSError as error:
            reason = error.strerror or str(error)
            raise CertificateUnusable(file=str(self.chain), reason=reason) from None

    def _stamps(self) -> tuple[_Stamp, _Stamp]:
        return _stamp(self.chain), _stamp(self.key)


def _server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _stamp(file: Path) -> _Stamp:
    try:
        found = file.stat()
    except OSError as error:
        reason = error.strerror or str(error)
        raise CertificateUnusable(file=str(file), reason=reason) from None
    return found.st_mtime_ns, found.st_ino


def _no_password() -> str:
    return ""
