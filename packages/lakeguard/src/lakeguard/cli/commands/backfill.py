"""``lakeguard backfill``: a window of a dataset, built again."""

from __future__ import annotations

import click

from lakeguard.cli.choosing import choose_named
from lakeguard.cli.commands.run import EXIT_CODES
from lakeguard.cli.failures import with_env
from lakeguard.cli.inert import inert
from lakeguard.cli.opening import person, project_of, writing
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.progress import note, working
from lakeguard.cli.running import published_version, run_to_end
from lakeguard.cli.views.run import run_lines
from lakeguard.cli.windowing import backfill_command, chosen_window
from lakeguard.settings import load_settings
from lakeguard_sdk.client import local_worker
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.run import Window


@click.command("backfill")
@click.argument("dataset")
@click.option("--from", "start", required=True, metavar="A", help="The first value of the window.")
@click.option("--to", "end", required=True, metavar="B", help="The last value, included.")
@click.option("--by", metavar="COLUMN", help="The column that the window is about.")
@shared_options
def command(call: Call, dataset: str, start: str, end: str, by: str | None) -> int:
    """Build again those rows of DATASET that lie from A to B of a column, both included.

    The column is the only partition column that has an order, else the watermark, unless --by
    names it. The gate judges the result as it judges any other run, with the same exit codes.
    """
    asked = DatasetName(dataset)
    spark_options = load_settings(project_of(call), call.env).spark
    with writing(call) as client:
        name = client.reader.dataset(asked).dataset_name
        definitions = client.registry.definitions()
        choose_named([name], definitions.datasets, with_parents=False)
        window = chosen_window(client.reader.definition(name), definitions, start, end, by)
        with working(f"filling back {name}, {window_text(window)}") as tell:
            worker = local_worker(client.for_worker(), spark_options=spark_options, progress=tell)
            result = run_to_end(client, worker, name, person(), window=window, note=note)
        published = published_version(client, name)
    data = {"run": result.to_data(), "published": published, "window": window.to_data()}
    again = inert(with_env(backfill_command(name, window), call.env))
    answer(call, data, [f"window: {window_text(window)}", *run_lines(result, published, again)])
    return EXIT_CODES[result.status]


def window_text(window: Window) -> str:
    """``flight_date from 2013-01-01 to 2013-01-31``, harmless to a terminal."""
    return inert(f"{window.column} from {window.start} to {window.end}")
