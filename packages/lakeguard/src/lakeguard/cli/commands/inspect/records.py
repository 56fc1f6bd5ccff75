"""``lakeguard records``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import click
from pydantic import ValidationError

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.records import (
    checked_lines,
    kind_lines,
    kinds_lines,
    record_lines,
    record_row,
    records_lines,
)
from lakeguard.cli.session import client_of
from lakeguard.cli.terminal.output import answer, write_lines
from lakeguard.cli.terminal.time_arguments import moment_of
from lakeguard.records.checks import KnownKinds
from lakeguard.records.conditions import BadCondition, parse_condition, parse_target
from lakeguard.records.validate_records import validate_records
from lakeguard_sdk.records.kinds import MetadataKind
from lakeguard_sdk.records.query import LARGEST_PAGE, MetadataQuery
from lakeguard_sdk.records.record import MetadataRecord
from lakeguard_sdk.records.repository import MetadataRepository

T = TypeVar("T")
FOLLOW_SECONDS = 1.0
"""Between two looks for new records."""
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.group("records")
def records_command() -> None:
    """Show metadata records and their kinds; check a file of them."""


def _since(ctx: click.Context, parameter: click.Parameter, text: str | None) -> datetime | None:
    return None if text is None else moment_of(text, datetime.now(UTC))


_since_option = click.option(
    "--since", callback=_since, metavar="TIME", help="A duration such as 7d, a day, or a time."
)
_until_option = click.option("--until", callback=_since, metavar="TIME", help="Before this time.")
_kind_option = click.option("--kind", required=True, metavar="KIND", help="Of this kind.")
_limit_option = click.option(
    "--limit",
    type=click.IntRange(1, LARGEST_PAGE),
    default=50,
    show_default=True,
    metavar="N",
    help="At most so many records.",
)


@records_command.command("latest")
@click.argument("target")
@_kind_option
@shared_options
def latest_command(call: Call, target: str, kind: str) -> None:
    """Show the newest record about TARGET, written as SOURCE.SCHEMA.TABLE or SOURCE.TABLE."""
    records = client_of(call).records
    _known(records, kind)
    found = records.latest(_read(parse_target, target), kind)
    answer(call, {"record": found and found.to_data()}, record_lines(found))


@records_command.command("history")
@click.argument("target")
@_kind_option
@_since_option
@_until_option
@_limit_option
@shared_options
def history_command(
    call: Call,
    target: str,
    kind: str,
    since: datetime | None,
    until: datetime | None,
    limit: int,
) -> None:
    """List the records about TARGET, newest first, with every version of each."""
    records = client_of(call).records
    _known(records, kind)
    about = _read(parse_target, target)
    _list(call, records.history(about, kind, since=since, until=until, limit=limit))


@records_command.command("query")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Of this kind; repeatable.")
@click.option(
    "--target", "targets", multiple=True, metavar="TARGET", help="About this one; repeatable."
)
@click.option(
    "--namespace", "namespaces", multiple=True, metavar="NAME", help="Of this one; repeatable."
)
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Such as 'payload.rows>=3', 'payload.status=[\"warn\",\"fail\"]' or"
    " 'extras.window_start?'; repeatable.",
)
@_since_option
@_until_option
@click.option("--oldest-first", is_flag=True, help="Begin with the oldest.")
@click.option("--every-version", is_flag=True, help="Also what a higher version replaced.")
@_limit_option
@shared_options
def query_command(
    call: Call,
    kinds: tuple[str, ...],
    targets: tuple[str, ...],
    namespaces: tuple[str, ...],
    where: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    oldest_first: bool,
    every_version: bool,
    limit: int,
) -> None:
    """List records that meet everything that is given, newest first."""
    query = MetadataQuery(
        kinds=kinds,
        targets=tuple(_read(parse_target, each) for each in targets),
        namespaces=namespaces,
        where=tuple(_read(parse_condition, each) for each in where),
        since=since,
        until=until,
        order="produced_at" if oldest_first else "-produced_at",
        every_version=every_version,
        page_size=limit,
    )
    records = client_of(call).records
    for kind in kinds:
        _known(records, kind)
    _list(call, records.query(query).records)


@records_command.command("tail")
@click.option("--cursor", default="", metavar="CURSOR", help="Go on where a call before ended.")
@click.option("--follow", is_flag=True, help="Wait for further records until interrupted.")
@_limit_option
@shared_options
def tail_command(call: Call, cursor: str, follow: bool, limit: int) -> None:
    """List records in the order in which they were stored, each once, and where to go on.

    With --follow and --json, each record is one line of JSON.
    """
    records = client_of(call).records
    found = records.tail(cursor, limit)
    if not follow:
        lines = [*records_lines(found.records), "", f"Next: --cursor {found.cursor}"]
        data = {"records": [each.to_data() for each in found.records], "cursor": found.cursor}
        answer(call, data, lines if found.cursor else lines[:1])
        return
    while True:
        write_lines(_line(call, record) for record in found.records)
        if not found.records:
            time.sleep(FOLLOW_SECONDS)
        found = records.tail(found.cursor, limit)


def _line(call: Call, record: MetadataRecord) -> str:
    return json.dumps(record.to_data()) if call.json else record_row(record)


@records_command.command("kinds")
@click.argument("kind", required=False)
@click.option(
    "--register", type=_FILE, metavar="FILE", help="Register the kind in a file of JSON first."
)
@shared_options
def kinds_command(call: Call, kind: str | None, register: Path | None) -> None:
    """List the kinds of records, or show the schema of KIND."""
    records = client_of(call).records
    if register is not None:
        shown = records.register_kind(_kind_in(register))
    elif kind is not None:
        shown = _known(records, kind)
    else:
        kinds = records.kinds()
        answer(call, {"kinds": [each.to_data() for each in kinds]}, kinds_lines(kinds))
        return
    answer(call, {"kind": shown.to_data()}, kind_lines(shown))


@records_command.command("validate")
@click.argument("file", type=_FILE)
@shared_options
def validate_command(call: Call, file: Path) -> int:
    """Check the records in FILE, one JSON document per line; nothing is stored.

    Each line and field that would be refused is named. Exit 1 if there is one.
    """
    checked = validate_records(file, client_of(call).records.kinds())
    problems = [each._asdict() for each in checked.problems]
    answer(call, {"records": checked.records, "problems": problems}, checked_lines(checked))
    return 1 if problems else 0


def _list(call: Call, found: Sequence[MetadataRecord]) -> None:
    answer(call, {"records": [each.to_data() for each in found]}, records_lines(found))


def _known(records: MetadataRepository, kind: str) -> MetadataKind:
    """Raises ``UnknownKind``, with a hint at a similar name."""
    return KnownKinds(records.kinds()).find(kind)


def _read(parse: Callable[[str], T], text: str) -> T:
    try:
        return parse(text)
    except BadCondition as error:
        raise click.BadParameter(str(error)) from None


def _kind_in(file: Path) -> MetadataKind:
    try:
        return MetadataKind.from_json(file.read_bytes())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise click.BadParameter(f"{file}: {place + ': ' if place else ''}{first['msg']}") from None
