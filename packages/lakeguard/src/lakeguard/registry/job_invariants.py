"""What must hold of a job, by itself and among others: a typo in its settings never passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from lakeguard.registry.graph import cycles
from lakeguard.registry.job_controls import controls_of, read_controls, unknown_hint
from lakeguard.registry.locating import Locate, by_file
from lakeguard.registry.nodes import Path
from lakeguard_sdk.definition import JobDefinition
from lakeguard_sdk.errors import (
    DefinitionError,
    JobCycle,
    MissingKey,
    UnknownKey,
    WrongValue,
)


def job_errors(job: JobDefinition, locate: Locate) -> Iterator[DefinitionError]:
    """Everything that is wrong with a job's settings."""
    for mistake in read_controls(job).mistakes:
        key = mistake.key
        at: Path = (mistake.block, key) if mistake.block else (key,)
        place = locate(job, at)
        if mistake.unknown:
            yield UnknownKey(place, key=key[:80], hint=unknown_hint(key), at=list(at))
        elif mistake.missing:
            yield MissingKey(place, key=key, hint=mistake.problem, at=list(at))
        else:
            yield WrongValue(place, key=key, problem=mistake.problem, hint="", at=list(at))


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
