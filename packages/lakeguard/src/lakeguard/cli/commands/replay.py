"""``lakeguard replay``: a recorded decision decided again."""

from __future__ import annotations

import click

from lakeguard.cli.opening import client_of
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.views.replay import replay_lines


@click.command("replay")
@click.argument("run")
@shared_options
def command(call: Call, run: str) -> int:
    """Decide RUN again from its recorded evidence, rules and policies.

    Exit 0 if the ruling is the same, byte for byte; 1 if it differs, with the difference.
    """
    result = client_of(call).reader.replay(run)
    answer(call, {"replay": result.to_data()}, replay_lines(result))
    return 0 if result.identical else 1
