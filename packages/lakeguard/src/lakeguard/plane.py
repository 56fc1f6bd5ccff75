"""Composition root of the embedded control plane."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial, wraps
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from sqlalchemy import make_url

from lakeguard.access.keys import KEY_FILE, IdentityKeys
from lakeguard.access.permission import OwnRun, Refusing
from lakeguard.access.users import local_user
from lakeguard.notifications.sender import NotificationSender, senders_of
from lakeguard.promotion.context import PlaneContext
from lakeguard.relay.attach import attach
from lakeguard.relay.delivery_loop import DeliveryLoop
from lakeguard.relay.relay import Relay
from lakeguard.settings import FileCheck, RecordStore, Settings, load_settings
from lakeguard.state.database import Database, sqlite_url
from lakeguard.state.health_check import set_damaged_apart
from lakeguard.state.schema_revision import SCHEMA_HEAD
from lakeguard_sdk.client import Client
from lakeguard_sdk.errors import StateMissing
from lakeguard_sdk.model.notifications import Topic
from lakeguard_sdk.security.outbound import use_outbound
from lakeguard_sdk.security.secret_references import use_store

if TYPE_CHECKING:
    from lakeguard.lake.port import GovernedTables, QuarantineTables
    from lakeguard_sdk.model.notifications import Notifications
    from lakeguard_sdk.model.run import RunTicket
    from lakeguard_sdk.model.verification import Audit, Migrated, Rebuilt, VerifyReport
    from lakeguard_sdk.ports import History, Ledger, Operations, Reader, Registry, Runs
    from lakeguard_sdk.records.repository import MetadataRepository
    from lakeguard_sdk.scheduling.tasks import Dispatch, Jobs


def connect_embedded(
    folder: str, *, env: str | None = None, ticket: RunTicket | None = None
) -> Client:
    """The control plane of a project folder; creates or migrates its State, unless another role
    owns it.

    Refused if another State owns the lake, or the ledger on it is ahead of this one.
    """
    settings = load_settings(Path(folder), env)
    database = open_state(settings)
    _bring_up(settings, database)
    attach(context_of(settings, database), settings.lake)
    return wire(settings, database, ticket)


def _bring_up(settings: Settings, database: Database) -> None:
    if settings.database.owner:
        from lakeguard.state.row_security import require_bound

        require_bound(database)
    else:
        database.migrate()


def migrate_embedded(folder: Path, *, env: str | None) -> Migrated:
    """Migrates the State as its owner, and binds the role of its service to one organisation at a
    time."""
    from lakeguard_sdk.model.verification import Migrated

    settings = load_settings(folder, env)
    database = open_state(settings, as_owner=True)
    try:
        before = database.revision()
        _migrate_as_owner(settings, database)
        return Migrated(
            place=database.place,
            revision=SCHEMA_HEAD,
            before=before,
            service_role=_service_role(settings),
        )
    finally:
        database.close()


def _migrate_as_owner(settings: Settings, database: Database) -> None:
    database.migrate()
    role = _service_role(settings)
    if role:
        from lakeguard.state.row_security import protect

        protect(database, role)


def _service_role(settings: Settings) -> str:
    """The role of the service, if it is not the owner."""
    place = settings.database
    return make_url(place.server).username or "" if place.owner else ""


def rebuild_embedded(
    folder: Path, *, env: str | None, replace: bool, progress: Callable[[str], None]
) -> Rebuilt:
    """Rebuilds the State of a project from the ledger on its lake; takes the place of a damaged
    SQLite file, which is kept."""
    from lakeguard.relay.rebuild import Rebuild

    settings = load_settings(folder, env)
    database = open_state(settings, as_owner=True)
    if settings.database.file is not None:
        kept = set_damaged_apart(settings.database.file, datetime.now(UTC))
        if kept is not None:
            progress(f"the damaged database is kept as {kept}")
    elif settings.database.owner:
        _migrate_as_owner(settings, database)
    state = context_of(settings, database)
    return Rebuild(state, settings.lake, progress).run(replace=replace)


def verify_embedded(
    folder: Path,
    *,
    env: str | None,
    replay: bool,
    head: str | None,
    progress: Callable[[str], None],
) -> VerifyReport:
    """Verifies also a State that other commands refuse to open."""
    settings = load_settings(folder, env)
    database = open_state(settings)
    if database.revision() is None:
        raise StateMissing(place=database.place)
    _bring_up(settings, database)
    context = context_of(settings, database)
    ledger = _ledger(context, Relay(context, settings.lake))
    return ledger.verify(replay=replay, head=head, progress=progress)


def open_state(settings: Settings, *, as_owner: bool = False) -> Database:
    """The environment's State; nothing is connected, created or migrated yet."""
    place = settings.database
    if place.file is not None:
        return Database(sqlite_url(place.file))
    url, secret = make_url(place.server), place.password
    if as_owner and place.owner:
        url, secret = url.set(username=place.owner), place.owner_password
    return Database(url, place.schema_name, None if secret is None else secret.resolve)


def wire(settings: Settings, database: Database, ticket: RunTicket | None = None) -> Client:
    """All ports over one State; with a ticket, only those that a run may use."""
    context = context_of(settings, database)
    use_store(settings.secrets.command)
    use_outbound(settings.outbound.rules)
    if ticket is not None:
        reader, runs = _reader(context, settings.lake, settings.check_files), _runs(context)
        return client_of_run(reader, runs, ticket, settings.lake, str(settings.folder))
    relay = Relay(context, settings.lake)
    senders = senders_of(context, settings)
    for sender in senders.values():
        sender.open()
    # The relay comes last: it also delivers what the senders wrote.
    loop = DeliveryLoop(database, [*senders.values(), relay])
    return replace(all_ports(settings, context, relay, senders), delivery=loop)


def all_ports(
    settings: Settings,
    context: PlaneContext,
    relay: Relay,
    senders: Mapping[Topic, NotificationSender],
) -> Client:
    """Unchecked ports over one State; delivery is left to the caller."""
    return Client(
        reader=_reader(context, settings.lake, settings.check_files),
        runs=_runs(context),
        registry=_registry(context),
        operations=_operations(context),
        ledger=_ledger(context, relay),
        audit=_audit(context, relay, settings),
        notifications=_notifications(context, senders),
        jobs=_jobs(context, senders[Topic.EVENT]),
        dispatch=_dispatch(context),
        history=_history(context, settings.lake),
        records=_records(context, settings),
        lake=settings.lake,
        project=str(settings.folder),
        spark_options=settings.spark,
        heartbeat_seconds=settings.dispatch.heartbeat_seconds,
    )


def client_of_run(reader: Reader, runs: Runs, ticket: RunTicket, lake: str, project: str) -> Client:
    holder = f"run {ticket.run_id}"
    return Client(
        reader=reader,
        runs=cast("Runs", OwnRun(runs, ticket)),
        registry=cast("Registry", Refusing(holder, "registry")),
        operations=cast("Operations", Refusing(holder, "operations")),
        ledger=cast("Ledger", Refusing(holder, "ledger")),
        audit=cast("Audit", Refusing(holder, "audit")),
        notifications=cast("Notifications", Refusing(holder, "notifications")),
        jobs=cast("Jobs", Refusing(holder, "jobs")),
        dispatch=cast("Dispatch", Refusing(holder, "dispatch")),
        history=cast("History", Refusing(holder, "history")),
        records=cast("MetadataRepository", Refusing(holder, "records")),
        lake=lake,
        project=project,
    )


def context_of(settings: Settings, database: Database) -> PlaneContext:
    settings.reach_lake()
    return PlaneContext(
        database=database,
        tables=_tables(),
        org_id=settings.organisation,
        lake=settings.lake,
        clock=_clock(database),
        actor=local_user(),
        check_files=settings.check_files,
        maintenance=settings.maintenance,
        quarantine_tables=_quarantine_tables(),
        dispatch=settings.dispatch,
        secrets=settings.secrets,
        source_roots=settings.service.source_roots or None,
        keys=keys_of(settings),
    )


def keys_of(settings: Settings) -> IdentityKeys:
    """The identity key of the environment; nothing is read or created yet."""
    place = settings.database.file or settings.folder / ".lakeguard" / "state.db"
    return IdentityKeys(settings.identity.key, place.with_name(KEY_FILE))


# Ports. Each is imported and built by its first call, so a command loads only what it uses: one
# that reads starts in a third of the time that all ports need.

Port = TypeVar("Port")
Arguments = ParamSpec("Arguments")


class _Port:
    """Stands for a port until its first call."""

    def __init__(self, build: Callable[[], object]) -> None:
        self._build = build
        self._building = Lock()
        self._built: object | None = None

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """For ``isinstance`` it is the port."""
        return type(self._port())

    def __getattr__(self, method: str) -> Any:
        return getattr(self._port(), method)

    def _port(self) -> object:
        if self._built is None:
            with self._building:
                if self._built is None:
                    self._built = self._build()
        return self._built


def _on_first_call(build: Callable[Arguments, Port]) -> Callable[Arguments, Port]:
    @wraps(build)
    def stand_in(*args: Arguments.args, **fields: Arguments.kwargs) -> Port:
        return cast(Port, _Port(partial(build, *args, **fields)))

    return stand_in


@_on_first_call
def _reader(context: PlaneContext, lake: str, check_files: FileCheck) -> Reader:
    from lakeguard.insight.reader.reader import StateReader

    return StateReader(context, lake, check_files)


@_on_first_call
def _runs(context: PlaneContext) -> Runs:
    from lakeguard.promotion.run_port import PromotionRuns

    return PromotionRuns(context)


@_on_first_call
def _registry(context: PlaneContext) -> Registry:
    from lakeguard.services.ports.registry import EmbeddedRegistry

    return EmbeddedRegistry(context)


@_on_first_call
def _operations(context: PlaneContext) -> Operations:
    from lakeguard.services.ports.operations import EmbeddedOperations

    return EmbeddedOperations(context)


@_on_first_call
def _ledger(context: PlaneContext, relay: Relay) -> Ledger:
    from lakeguard.services.ports.ledger import EmbeddedLedger

    return EmbeddedLedger(context, relay)


@_on_first_call
def _audit(context: PlaneContext, relay: Relay, settings: Settings) -> Audit:
    from lakeguard.relay.signed_head import SigningKey
    from lakeguard.services.ports.audit import EmbeddedAudit

    secret = settings.audit.key
    file = settings.folder / ".lakeguard" / f"audit-{settings.env}.pem"
    key = SigningKey(file, None if secret is None else secret.resolve)
    return EmbeddedAudit(context, relay, key)


@_on_first_call
def _notifications(
    context: PlaneContext, senders: Mapping[Topic, NotificationSender]
) -> Notifications:
    from lakeguard.services.ports.notifications import EmbeddedNotifications

    return EmbeddedNotifications(context, senders)


@_on_first_call
def _jobs(context: PlaneContext, events: NotificationSender) -> Jobs:
    from lakeguard.services.ports.jobs import EmbeddedJobs

    return EmbeddedJobs(context, events)


@_on_first_call
def _dispatch(context: PlaneContext) -> Dispatch:
    from lakeguard.services.ports.dispatch import EmbeddedDispatch

    return EmbeddedDispatch(context)


@_on_first_call
def _history(context: PlaneContext, lake: str) -> History:
    from lakeguard.insight.history.port import StateHistory

    return StateHistory(context, lake)


@_on_first_call
def _records(context: PlaneContext, settings: Settings) -> MetadataRepository:
    match settings.records.store:
        case RecordStore.SQL:
            from lakeguard.records.sql_repository import SqlRepository

            return SqlRepository(context)
        case RecordStore.FILES:
            from lakeguard.records.files.shared import shared_repository

            return shared_repository(settings.lake, context.org_id)


@_on_first_call
def _tables() -> GovernedTables:
    from lakeguard.lake.delta import DeltaTables

    return DeltaTables()


@_on_first_call
def _quarantine_tables() -> QuarantineTables:
    from lakeguard.lake.quarantine_tables import DeltaQuarantineTables

    return DeltaQuarantineTables()


def _clock(database: Database) -> Callable[[], datetime]:
    """All times in the State come from one clock, its own."""
    return database.clock
