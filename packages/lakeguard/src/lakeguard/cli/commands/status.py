"""``lakeguard status``: the health list."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from lakeguard.cli.opening import client_of
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.views.status import Health, status_lines, worst_first


@click.command("status")
@shared_options
def command(call: Call) -> None:
    """Show one line per dataset, worst first: health, version, age, last run, owner."""
    healths = worst_first([Health(item) for item in client_of(call).reader.status()])
    data = {"datasets": [item.to_data() for item in healths]}
    answer(call, data, status_lines(healths, datetime.now(UTC)))
