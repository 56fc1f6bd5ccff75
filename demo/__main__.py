"""``python -m demo [FOLDER]``: runs the demo, and fails if a step has an unexpected result."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from demo.narrator import DemoFailed
from demo.story import Story
from lakeguard.cli.errors import failure_lines
from lakeguard.cli.terminal.output import write_lines
from lakeguard_sdk.errors import LakeGuardError

DEFAULT_FOLDER = Path(__file__).resolve().parent.parent / "demo-lake"

TRY = (
    "status",
    "why {blocked}",
    "show gold.daily_delays",
    "versions bronze.flights",
    "runs",
    'rollback silver.flights --to v1 --reason "to see it move"',
)


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]).resolve() if arguments else DEFAULT_FOLDER
    started = time.monotonic()
    try:
        blocked = Story(folder).run_all()
    except LakeGuardError as error:
        write_lines(failure_lines(error), err=True)
        return 1
    except (DemoFailed, OSError) as error:
        write_lines([str(error)], err=True)
        return 1
    write_lines(["", *what_next(folder, blocked.run_id, time.monotonic() - started)])
    return 0


def what_next(folder: Path, blocked: str, seconds: float) -> list[str]:
    lake = shortest(folder)
    command = shortest(Path(sys.executable).with_name("lakeguard"))
    return [
        f"Everything above took {seconds:.0f} s and is in {lake}/. Try:",
        *(f"  {command} --project {lake} {text.format(blocked=blocked)}" for text in TRY),
    ]


def shortest(path: Path) -> str:
    """Relative to the current folder if it is below it."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
