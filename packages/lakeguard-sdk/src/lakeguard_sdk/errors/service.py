"""Requests to a service, and its answers."""

from __future__ import annotations

from lakeguard_sdk.errors.tree import Refused, UsageError


class UnknownOperation(UsageError):
    """The service was restarted, or the operation ended long ago. What it committed stays: check
    before you start it again."""

    code = "LG-1701"
    what = "operation {operation} is not known to the service"
    next_command = "lakeguard status, then start it again if it did not end"


class PageExpired(UsageError):
    """The list changed between two pages."""

    code = "LG-1702"
    what = "the list changed while it was read"
    next_command = "read the list again from its first page"


class KeyReused(UsageError):
    """An Idempotency-Key belongs to one request."""

    code = "LG-1703"
    what = "the Idempotency-Key was already used for another request"
    next_command = "send a new key with a new request"


class RequestRefused(UsageError):
    """The service does not accept the request."""

    code = "LG-1704"
    what = "the service refused the request: {status} {reason}"
    next_command = "see docs/reference/api.md"


class FolderNeeded(UsageError):
    """The command works on the folder of a project, not on a service."""

    code = "LG-1705"
    what = "{command} needs the project folder: {reason}"
    next_command = "unset LAKEGUARD_URL and run it in the project folder"


class ListenerOpen(UsageError):
    """Without tokens, a service listens on this machine only."""

    code = "LG-1706"
    what = "{place} can be reached from other machines, but no tokens are required"
    next_command = "lakeguard serve --listen 127.0.0.1:8600"


class CertificateUnusable(UsageError):
    """The files of the TLS certificate and its key have to be in PEM, belong together, and be
    readable without a password."""

    code = "LG-1707"
    what = "the TLS certificate {file} cannot be used: {reason}"
    next_command = "lakeguard serve --tls-cert FILE --tls-key FILE"


class TracesUnavailable(UsageError):
    """The settings name a collector of traces, but the exporter is not installed."""

    code = "LG-1708"
    what = "traces are configured, but {extra} is not installed"
    next_command = "pip install '{extra}'"


class SourceOutsideRoots(UsageError):
    """Whoever defines a source through a service reads files with the rights of its workers, so the
    settings of the service name the folders where that is allowed. Links are resolved."""

    code = "LG-1709"
    what = "{owner} reads {path}, which is not below a folder that the service lets sources read"
    next_command = "name its folder in source_roots of [env.NAME.service]; then: lakeguard plan"


class ServiceUrlInvalid(UsageError):
    """Commands ask the service of this URL. It is not shown, as it may contain a password."""

    code = "LG-1710"
    what = "LAKEGUARD_URL {problem}"
    next_command = "set LAKEGUARD_URL as in: export LAKEGUARD_URL=http://127.0.0.1:8600"


class NotAuthenticated(Refused):
    """The request has no valid credentials."""

    code = "LG-3401"
    exit_code = 1
    what = "not authenticated: {reason}"
    next_command = "set LAKEGUARD_TOKEN to a valid token"


class DefinitionsChanged(Refused):
    """The definitions are no longer those of the ETag that was sent as If-Match."""

    code = "LG-3402"
    what = "the definitions changed since they were read"
    next_command = "lakeguard plan"


class KeyInUse(Refused):
    """The first request with this Idempotency-Key has no answer yet. If the service was restarted
    meanwhile, it never gets one: check what the request did."""

    code = "LG-3403"
    retryable = True
    what = "the first request with this Idempotency-Key has not been answered"
    next_command = "lakeguard tasks list, or lakeguard runs, to see what it did"


class ServiceBusy(Refused):
    """The service is at its limit; the same call succeeds later."""

    code = "LG-3404"
    retryable = True
    what = "the service is busy: {reason}"
    next_command = "repeat the command"


class RateLimited(Refused):
    """Requests of one principal, or refused tokens of one address, came faster than the settings of
    the service allow. Nothing was done; the same call succeeds after that many seconds."""

    code = "LG-3405"
    retryable = True
    what = "more than {limit} requests per minute; retry after {seconds} s"
    next_command = "repeat the command later"
