"""What must hold of a job, by itself and among others: a typo in its settings never passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from lakeguard.registry.graph import cycles
from lakeguard.registry.job_controls import ALIASES, KEYS, MARK, controls_of, read_controls
from lakeguard.registry.locating import Locate, by_file
from lakeguard.registry.nodes import Path
from lakeguard_sdk.definition import JobDefinition
from lakeguard_sdk.definition_errors import (
    DefinitionError,
    JobCycle,
    MissingKey,
    UnknownKey,
    WrongValue,
)
from lakeguard_sdk.spelling import did_you_mean


def is_known(key: str) -> bool:
    """A key of ours, or one of another system, which has a ``#`` in it."""
    return key in KEYS or MARK in key


def unknown_hint(key: str) -> str:
    near = did_you_mean(key, [*KEYS, *ALIASES])
    return near or f"; settings of other systems have a {MARK} in their names, as in team{MARK}cost"


def job_errors(job: JobDefinition, locate: Locate) -> Iterator[DefinitionError]:
    """Everything that is wrong with a job's settings."""
    for key in job.config:
        if not is_known(key):
            at: Path = ("config", key)
            hint = unknown_hint(key)
            yield UnknownKey(locate(job, at), key=key[:80], hint=hint, at=list(at))
    for mistake in read_controls(job).mistakes:
        at = (mistake.key,) if mistake.key in ("dataset", "type") else ("config", mistake.key)
        place = locate(job, at)
        if mistake.missing:
            yield MissingKey(place, key=mistake.key, at=list(at))
        else:
            yield WrongValue(place, key=mistake.key, problem=mistake.problem, hint="", at=list(at))


def after_errors(
    changed: Mapping[str, JobDefinition], others: Mapping[str, JobDefinition]
) -> Iterator[DefinitionError]:
    """Each cycle of jobs once, at one that is being defined."""
    every = {**others, **changed}
    for cycle in cycles({name: controls_of(job).after for name, job in every.items()}):
        for job, _ in pairwise(cycle):
            if job in changed:
                at = ("config", "after")
                place = by_file(changed[job], at)
                yield JobCycle(place, path=" → ".join(cycle), at=list(at))
                break
