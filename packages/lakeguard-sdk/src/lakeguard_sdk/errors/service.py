"""Requests to a service, and its answers."""

from __future__ import annotations

from lakeguard_sdk.errors.tree import Refused, UsageError


class UnknownOperation(UsageError):
    """The service was restarted, or the operation ended long ago. What it wrote is written: look
    before you start it again."""

    code = "LG-1701"
    what = "operation {operation} is not known to the service"
    next_command = "lakeguard status, then start it again if it did not end"


class PageExpired(UsageError):
    """The list changed, and the place in it was lost."""

    code = "LG-1702"
    what = "the list changed while it was read"
    next_command = "read the list again from its first page"


class KeyReused(UsageError):
    """An Idempotency-Key stands for one request."""

    code = "LG-1703"
    what = "the Idempotency-Key was sent with another request before"
    next_command = "send a new key with a new request"


class RequestRefused(UsageError):
    """The request is not one that the service takes."""

    code = "LG-1704"
    what = "the service refused the request: {status} {reason}"
    next_command = "see docs/reference/api.md"


class FolderNeeded(UsageError):
    """The command works on the folder of a project, not on a service."""

    code = "LG-1705"
    what = "{command} needs the folder of the project: {reason}"
    next_command = "unset LAKEGUARD_URL, and run it where the folder is"


class ListenerOpen(UsageError):
    """Without users, the service answers to this machine only."""

    code = "LG-1706"
    what = "{place} can be reached from other machines, and nobody would be asked who they are"
    next_command = "lakeguard serve --listen 127.0.0.1:8600"


class CertificateUnusable(UsageError):
    """The files of the TLS certificate and its key have to be in PEM, belong together, and be
    readable without a password."""

    code = "LG-1707"
    what = "the TLS certificate {file} cannot be used: {reason}"
    next_command = "lakeguard serve --tls-cert FILE --tls-key FILE"


class TracesUnavailable(UsageError):
    """The settings name a collector of traces, and what sends them is not installed."""

    code = "LG-1708"
    what = "traces are configured, and {extra} is not installed"
    next_command = "pip install '{extra}'"


class SourceOutsideRoots(UsageError):
    """Whoever defines a source through a service reads files with the rights of its workers, so the
    settings of the service name the folders where that is allowed. Links are resolved."""

    code = "LG-1709"
    what = "{owner} reads {path}, which is not below a folder that the service lets sources read"
    next_command = "name its folder in source_roots of [env.NAME.service]; then: lakeguard plan"


class ServiceUrlInvalid(UsageError):
    """Commands ask the service of this URL. It is not shown, as it may have a password."""

    code = "LG-1710"
    what = "LAKEGUARD_URL {problem}"
    next_command = "set LAKEGUARD_URL as in: export LAKEGUARD_URL=http://127.0.0.1:8600"


class NotAuthenticated(Refused):
    """The service knows nobody by these credentials."""

    code = "LG-3401"
    exit_code = 1
    what = "the service does not know who is asking: {reason}"
    next_command = "set LAKEGUARD_TOKEN to a valid token"


class DefinitionsChanged(Refused):
    """The definitions are no longer those of the ETag that was sent as If-Match."""

    code = "LG-3402"
    what = "the definitions changed since they were read"
    next_command = "lakeguard plan"


class KeyInUse(Refused):
    """The first request with this Idempotency-Key has no answer yet. If the service was restarted
    meanwhile, it never gets one, and what the request did is to be looked up."""

    code = "LG-3403"
    retryable = True
    what = "the first request with this Idempotency-Key has not been answered"
    next_command = "lakeguard tasks list, or lakeguard runs, to see what it did"


class ServiceBusy(Refused):
    """The service has more to do than it takes on; the same call succeeds later."""

    code = "LG-3404"
    retryable = True
    what = "the service is busy: {reason}"
    next_command = "repeat the command"


class RateLimited(Refused):
    """Requests of one principal, or refused tokens of one address, came faster than the settings of
    the service allow. Nothing was done; the same call succeeds after the time that is named."""

    code = "LG-3405"
    retryable = True
    what = "more than {limit} requests a minute; the next one is let in after {seconds} s"
    next_command = "repeat the command later"
