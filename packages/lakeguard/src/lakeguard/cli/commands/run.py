"""``lakeguard run``: build, stage, measure, decide, publish."""

from __future__ import annotations

import click

from lakeguard.cli.opening import person, project_of, writing
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.output import answer
from lakeguard.cli.progress import note, working
from lakeguard.cli.running import published_version, run_to_end
from lakeguard.cli.views.run import run_lines
from lakeguard.settings import load_settings
from lakeguard_sdk.client import local_worker
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.words import RunStatus

EXIT_CODES = {RunStatus.SUCCESS: 0, RunStatus.FAILED: 1, RunStatus.BLOCKED: 3}


@click.command("run")
@click.argument("dataset")
@shared_options
def command(call: Call, dataset: str) -> int:
    """Build DATASET, show the gate what was staged, and publish it if the gate allows.

    Exit 0 if it was promoted or there was nothing new, 3 if it was blocked, 1 if it failed. A
    failure that may pass by itself is tried again; a block never is.
    """
    name = DatasetName(dataset)
    spark_options = load_settings(project_of(call), call.env).spark
    with writing(call) as client:
        client.reader.dataset(name)
        with working(f"running {name}") as tell:
            worker = local_worker(client.for_worker(), spark_options=spark_options, progress=tell)
            result = run_to_end(client, worker, name, person(), note=note)
        published = published_version(client, name)
    data = {"run": result.to_data(), "published": published}
    answer(call, data, run_lines(result, published))
    return EXIT_CODES[result.status]
