"""Graphs of jobs and datasets, as people read of them."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import GAP, Tone, moment, number, plural, strong, table, toned
from lakeguard.jobs.graphs import SHOWN_HASH
from lakeguard_sdk.job import DagVersion, Deployed


def deployed_lines(
    done: Deployed, unapplied: Sequence[str] = (), *, dry_run: bool = False
) -> list[str]:
    """What changed or would change, one line each; what is not applied yet comes before all that
    is to be done next."""
    short = short_hash(done.dag_hash)
    if not done.changed:
        lines = [f"{toned('= UNCHANGED', Tone.GOOD)}  this graph is active already ({short})"]
        return [*lines, *_withdrawn(done), *unapplied]
    lines = [f"  {toned('+', Tone.GOOD)} {inert(said)}" for said in done.added]
    lines += [f"  {toned('-', Tone.BAD)} {inert(said)}" for said in done.removed]
    lines += [f"  {toned('~', Tone.WARN)} {inert(said)}" for said in done.altered]
    if dry_run:
        return [*lines, "nothing was changed", *(unapplied or ["Next: lakeguard deploy"])]
    mark = toned("✓ DEPLOYED", Tone.GOOD)
    lines.append(f"{mark}  {strong(done.dag_version_id)}{GAP}{short}")
    return [*lines, *_withdrawn(done), *(unapplied or ["Next: lakeguard jobs list"])]


def _withdrawn(done: Deployed) -> list[str]:
    """What became of the work of newer versions."""
    lines = []
    if done.canceled:
        many, some = plural(len(done.canceled), "task"), ", ".join(done.canceled[:3])
        lines.append(f"{many} of newer versions canceled: {some}{_more(done)}")
    lines += [f"{toned('!', Tone.BAD)} {inert(said)}" for said in done.problems]
    if done.problems:
        lines.append("a dispatcher tries that again at each turn")
    return lines


def _more(done: Deployed) -> str:
    left = len(done.canceled) - 3
    return f" and {left:,} more" if left > 0 else ""


def versions_lines(versions: Sequence[DagVersion]) -> list[str]:
    """The newest first."""
    if not versions:
        return ["no graph is deployed yet", "Next: lakeguard deploy"]
    rows = [
        [
            version.dag_version_id,
            short_hash(version.dag_hash),
            moment(version.created_at),
            number(version.jobs),
            number(version.datasets),
            toned("● active", Tone.GOOD) if version.active else "",
        ]
        for version in versions
    ]
    headers = ("VERSION", "HASH", "MADE", "JOBS", "DATASETS", "")
    lines = table(headers, rows, right=frozenset({3, 4}))
    before = next((version for version in versions if not version.active), None)
    if before is not None:
        lines.append(f"Next: lakeguard deploy --dry-run --to {before.dag_version_id}")
    return lines


def short_hash(digest: str) -> str:
    return digest.removeprefix("sha256:")[:SHOWN_HASH]
