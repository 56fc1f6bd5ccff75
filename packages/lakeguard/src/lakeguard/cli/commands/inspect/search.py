"""``lakeguard search``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.session import client_of
from lakeguard.cli.terminal.layout import table
from lakeguard.cli.terminal.output import answer
from lakeguard.services.plain_text import escaped
from lakeguard_sdk.core.enums import Layer
from lakeguard_sdk.model.read_models import FoundDataset, MatchedField

_SHOWN = 4
"""Maximum matches in one line."""


@click.command("search")
@click.argument("words", nargs=-1)
@click.option("--owner", default="", metavar="NAME", help="Of this owner only.")
@click.option("--domain", default="", metavar="NAME", help="Of this domain only.")
@click.option("--tag", default="", metavar="TAG", help="With a column of this tag.")
@click.option("--column", default="", metavar="NAME", help="With a column of this name.")
@click.option("--layer", type=click.Choice([layer.value for layer in Layer]), help="Of this layer.")
@click.option(
    "--limit",
    type=click.IntRange(1, 1_000),
    default=50,
    show_default=True,
    metavar="N",
    help="Maximum number of datasets.",
)
@shared_options
def search_command(
    call: Call,
    words: tuple[str, ...],
    owner: str,
    domain: str,
    tag: str,
    column: str,
    layer: str | None,
    limit: int,
) -> None:
    """Find datasets by name, description, owner, domain, tags and columns.

    Each of WORDS must match a word or the beginning of one. The exact name comes first.
    """
    found = client_of(call).reader.search(
        " ".join(words),
        owner=owner,
        domain=domain,
        tag=tag,
        column=column,
        layer=None if layer is None else Layer(layer),
        limit=limit,
    )
    answer(call, {"datasets": [row.to_data() for row in found]}, _lines(found))


def _lines(found: Sequence[FoundDataset]) -> list[str]:
    if not found:
        return ["no dataset found"]
    rows = [
        [
            str(row.dataset),
            "" if row.active else "disabled",
            escaped(row.owner),
            escaped(row.domain),
            _why(row),
            escaped(row.description),
        ]
        for row in found
    ]
    return table(("DATASET", "", "OWNER", "DOMAIN", "MATCHED", "DESCRIPTION"), rows)


def _why(row: FoundDataset) -> str:
    """Matches that the other columns do not show."""
    shown = [
        f"{match.field} {escaped(match.value)}"
        for match in row.matched
        if match.field in (MatchedField.TAG, MatchedField.COLUMN)
    ]
    more = f", {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return ", ".join(shown[:_SHOWN]) + more
