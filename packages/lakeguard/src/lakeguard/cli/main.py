"""The ``lakeguard`` entry point; errors become exit codes here and nowhere else.

Exit codes: 0 success, 1 failure, 2 usage or definition error, 3 blocked, 130 interrupted.
Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import gc
import sys
import traceback
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakeguard.cli.command_registry import Catalogue
from lakeguard.cli.options import NEEDS_FOLDER, Call, env_option, json_option, project_option

if TYPE_CHECKING:
    from lakeguard_sdk.client import Client

INTERRUPTED = 130
YOUNG_OBJECTS = 200_000
"""Objects between two garbage collections; imports make many objects and hardly any garbage."""


@click.group(
    cls=Catalogue,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="With LAKEGUARD_URL=https://HOST, commands call the service there, except those that "
    f"need the project folder: {', '.join(NEEDS_FOLDER)}. "
    "Exit codes: 0 success, 1 failure, 2 usage or definition error, 3 blocked.",
)
@project_option
@env_option
@json_option
@click.option("--debug", is_flag=True, help="Print the traceback of an error.")
@click.version_option(package_name="lakeguard", message="%(prog)s %(version)s")
@click.pass_context
def cli(
    ctx: click.Context, project: Path | None, env: str | None, as_json: bool, debug: bool
) -> None:
    """Data moves because metadata allows it.

    Define datasets, rules and policies in files, apply them, run. A batch becomes visible only
    after the gate has checked the staged data and allowed it; every decision is recorded.
    """
    opened = ctx.ensure_object(list)
    ctx.obj = Call(project=project, env=env, json=as_json, debug=debug, opened=opened)


def call(arguments: Sequence[str]) -> int:
    """Exit code of a command line. Errors are printed, never raised; no arguments means help."""
    opened: list[Client] = []
    code = answered(arguments, opened)
    for client in opened:
        close(client)
    return code


def answered(arguments: Sequence[str], opened: list[Client] | None = None) -> int:
    """Exit code; clients that the command opens are appended to ``opened``."""
    given = list(arguments) or ["--help"]
    try:
        code = cli.main(given, "lakeguard", standalone_mode=False, obj=opened)
    except click.Abort:
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - outermost boundary: report everything
        return print_error(_with_hint(error, opened or []), arguments)
    return code if isinstance(code, int) else 0


def _with_hint(error: Exception, opened: Sequence[Client]) -> Exception:
    """For a dataset named without its layer: the dataset that is meant."""
    from lakeguard.cli import errors

    return errors.with_meant_dataset(error, opened[0]) if opened else error


def close(client: Client) -> None:
    """Delivers what the command wrote to the ledger on the lake.

    A failure is printed and does not change the result; the next command retries.
    """
    sys.stdout.flush()
    try:
        client.close()
    except KeyboardInterrupt:
        click.echo("interrupted; the next command delivers the rest", err=True)
    except Exception as error:  # noqa: BLE001 - the command itself succeeded
        from lakeguard.cli import errors
        from lakeguard.cli.terminal import output

        output.write_lines(errors.failure_lines(error), err=True)


def print_error(error: Exception, arguments: Sequence[str]) -> int:
    """Prints the error to standard error, or as JSON to standard output with ``--json``."""
    from lakeguard.cli import errors
    from lakeguard.cli.terminal import output

    env = named_env(arguments)
    if "--debug" in arguments:
        click.echo("".join(traceback.format_exception(error)), err=True)
    if "--json" in arguments:
        output.write_json({"error": errors.failure_data(error, env)})
    else:
        output.write_lines(errors.failure_lines(error, env), err=True)
    return errors.exit_code_of(error)


def named_env(arguments: Sequence[str]) -> str | None:
    """The value of ``--env``, repeated in suggested commands."""
    for before, after in pairwise([*arguments, ""]):
        if before == "--env":
            return after
        if before.startswith("--env="):
            return before.removeprefix("--env=")
    return None


def main() -> None:
    """Replaces characters the terminal cannot encode, so that output never fails."""
    gc.set_threshold(YOUNG_OBJECTS)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    code = call(sys.argv[1:])
    if "duckdb" not in sys.modules:  # it reports as leaked what is not collected
        gc.freeze()  # the end of the process frees all memory, faster than a last collection
    sys.exit(code)


if __name__ == "__main__":
    main()
