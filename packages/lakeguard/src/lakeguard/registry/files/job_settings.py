"""A job's settings, read: how it is started, run and held back.

Keys of ours are plain words. Keys with a ``#`` are of other systems: four of them mean something
here, and all others are kept and shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from lakeguard.registry.files import job_values as values
from lakeguard.registry.graph import cycles
from lakeguard.registry.text.definition_positions import Locate, by_file
from lakeguard.registry.text.yaml_nodes import Path
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.core.enums import QUEUED_KINDS, TaskKind
from lakeguard_sdk.errors import (
    DefinitionError,
    JobCycle,
    MissingKey,
    UnknownKey,
    WrongValue,
)
from lakeguard_sdk.model.definitions import JobDefinition
from lakeguard_sdk.scheduling.jobs import (
    SIGNING_SECRET,
    CatchUp,
    CronTrigger,
    JobControls,
    Overlap,
    UpdateTrigger,
)

MARK = "#"
"""In a key: it belongs to another system."""
ACTIVE_CONFIG = "status#ActiveConfig"
STEP_FUNCTION = "stepfn#Name"

KEYS: dict[str, Callable[[str], Any]] = {
    "schedule": values.schedule,
    "time_zone": values.time_zone,
    "catch_up": values.choice(CatchUp),
    "on_update": values.datasets,
    "on_update_any": values.datasets,
    "on_files": values.glob,
    "on_event": values.pattern,
    "after": values.words,
    "overlap": values.choice(Overlap),
    "concurrency": values.whole(1, 1000),
    "priority": values.whole(-1000, 1000),
    "labels": values.words,
    "attempts": values.whole(1, 100),
    "timeout": values.seconds,
    "call": values.call,
    "url": values.address,
    "outputs": values.words,
}
"""Every key of ours, with what reads its value."""

ALIASES: dict[str, Callable[[str], Any]] = {
    "frequency#Type": values.frequency,
    "trigger#EventBridge": values.rule_pattern,
    ACTIVE_CONFIG: values.flag,
    STEP_FUNCTION: values.name_elsewhere,
}
"""Keys of other systems that mean something here. A key of ours wins over them."""

TRIGGERS = ("schedule", "on_update", "on_update_any", "on_files", "on_event", "after")
_STARTED_BY = frozenset({*TRIGGERS, "frequency#Type", "trigger#EventBridge"})
_OF_TYPE = {"call": ("python",), "url": ("http",), "outputs": ("python", "http")}
_NEEDED = {"python": "call", "http": "url"}
_CALLED = ("python", "http")
"""Types whose workers open the secrets that the details name."""
_ELSEWHERE = "secret://"
NO_DATASET = "; or write the type of what runs this job"
"""Said of a build without a dataset."""


@dataclass(frozen=True)
class Mistake:
    """What is wrong with a setting; ``key`` is the one that it stands at."""

    key: str
    problem: str
    """Of a key that is missing: what to write, where that needs saying."""
    missing: bool = False
    unknown: bool = False
    block: str = "config"
    """What the key stands in; empty where that is the definition itself."""

    def __str__(self) -> str:
        if self.missing:
            return f"{self.key} is missing"
        return f"{self.key}: {self.problem}"


@dataclass(frozen=True)
class Reading:
    """Settings as they were understood, and what was not."""

    controls: JobControls
    active: bool
    mistakes: tuple[Mistake, ...] = ()

    def problem_of(self, job: str) -> str:
        """Why nothing may run under these settings, in one sentence; empty where all were
        understood."""
        return f"the settings of job {job} are wrong: {self.mistakes[0]}" if self.mistakes else ""


def is_known(key: str) -> bool:
    """A key of ours, or one of another system, which has a ``#`` in it. What is one that means
    something here but for its capitals is none: it would mean nothing."""
    return key in KEYS or (MARK in key and (key in ALIASES or key.casefold() not in _FOLDED))


def unknown_hint(key: str) -> str:
    near = did_you_mean(key, [*KEYS, *ALIASES])
    return near or f"; settings of other systems have a {MARK} in their names, as in team{MARK}cost"


_FOLDED = frozenset(key.casefold() for key in ALIASES)


def controls_of(definition: JobDefinition) -> JobControls:
    """With every default filled in; what is wrong counts as not said, and never raises."""
    return read_controls(definition).controls


def read_controls(definition: JobDefinition) -> Reading:
    """The settings and every mistake in them."""
    said, mistakes = _said(definition.config)
    mistakes += [*_contradictions(definition, said), *_details(definition)]
    kind = kind_of(definition)
    controls = JobControls(
        kind=kind,
        call=said.get("call", ""),
        url=said.get("url", ""),
        timeout_seconds=said.get("timeout", JobControls().timeout_seconds),
        cron=_cron(said),
        updates=_updates(said),
        files=said.get("on_files", ""),
        event=said.get("on_event", said.get("trigger#EventBridge")),
        **{key: said[key] for key in _AS_SAID if key in said},
    )
    active = definition.active and said.get(ACTIVE_CONFIG, True)
    return Reading(controls, active, tuple(mistakes))


_AS_SAID = ("after", "overlap", "concurrency", "priority", "labels", "attempts", "outputs")


def kind_of(definition: JobDefinition) -> TaskKind | None:
    """None where nothing here runs it: a type of another system, or a build of no dataset."""
    if definition.type not in QUEUED_KINDS:
        return None
    kind = TaskKind(definition.type)
    return None if kind is TaskKind.BUILD and definition.dataset is None else kind


def is_idle(definition: JobDefinition) -> bool:
    """A build that is switched on and builds nothing: a mistake where somebody wrote that it is a
    build, and a name in the catalogue where nobody wrote what it is."""
    nothing = definition.type == TaskKind.BUILD and definition.dataset is None
    return nothing and read_controls(definition).active


def _said(config: Mapping[str, str]) -> tuple[dict[str, Any], list[Mistake]]:
    said: dict[str, Any] = {}
    mistakes = []
    readers = {**KEYS, **ALIASES}
    for key, text in config.items():
        if not is_known(key):
            mistakes.append(Mistake(key, f"unknown key{unknown_hint(key)}", unknown=True))
        if key not in readers:
            continue
        try:
            said[key] = readers[key](text.strip())
        except ValueError as error:
            mistakes.append(Mistake(key, str(error)))
    return said, mistakes


def _contradictions(definition: JobDefinition, said: Mapping[str, Any]) -> list[Mistake]:
    """Settings that do not go with each other, or with the job's type."""
    config, kind = definition.config, definition.type
    mistakes = _of_strange_type(definition) or [
        Mistake(key, f"jobs of type {kind} have none; it is for {' and '.join(types)}")
        for key, types in _OF_TYPE.items()
        if key in config and kind not in types
    ]
    if {"on_update", "on_update_any"} <= set(config):
        mistakes.append(Mistake("on_update_any", "on_update stands here too; write one of them"))
    timed = "schedule" in config or _may_be_timed(config, said)
    for key in ("time_zone", "catch_up"):
        if key in config and not timed:
            mistakes.append(Mistake(key, "it is for a schedule, and there is none"))
    if definition.job in said.get("after", ()):
        mistakes.append(Mistake("after", "a job does not wait for itself"))
    needed = _NEEDED.get(kind)
    if needed and needed not in config:
        mistakes.append(Mistake(needed, "", missing=True))
    if _builds_nothing(definition):
        mistakes.append(Mistake("dataset", NO_DATASET, missing=True, block=""))
    return mistakes


def _may_be_timed(config: Mapping[str, str], said: Mapping[str, Any]) -> bool:
    """Whether another system's key says when, or was meant to."""
    key = "frequency#Type"
    return key in config and said.get(key, "unread") is not None


def _builds_nothing(definition: JobDefinition) -> bool:
    """A workload may stand in the catalogue with its name alone, or with what another system runs
    it by. One that is to be started or held back here is meant to run here."""
    if definition.type != TaskKind.BUILD or definition.dataset is not None:
        return False
    said = set(definition.config)
    started_here = STEP_FUNCTION not in said and said & _STARTED_BY
    return bool(said & set(KEYS) or started_here)


def _details(definition: JobDefinition) -> list[Mistake]:
    """What a worker cannot do without, or would not get."""
    if definition.type not in _CALLED:
        return []
    details = definition.details
    mistakes = [
        Mistake(
            name, "nothing here opens such a secret; write env:NAME or file:PATH", block="details"
        )
        for name, text in details.items()
        if text.startswith(_ELSEWHERE)
    ]
    if definition.type == TaskKind.HTTP and SIGNING_SECRET not in details:
        hint = "; it names what the call is signed with, env:NAME or file:PATH"
        mistakes.append(Mistake(SIGNING_SECRET, hint, missing=True, block="details"))
    return mistakes


def _of_strange_type(definition: JobDefinition) -> list[Mistake]:
    """Other systems' jobs are welcome in the catalogue; nothing here starts or calls them."""
    asked = [key for key in (*TRIGGERS, *_OF_TYPE) if key in definition.config]
    if definition.type in QUEUED_KINDS or not asked:
        return []
    near = did_you_mean(definition.type, [kind.value for kind in QUEUED_KINDS])
    said = f"nothing here runs jobs of type {definition.type}, and it has {', '.join(asked)}{near}"
    return [Mistake("type", said, block="")]


def _cron(said: Mapping[str, Any]) -> CronTrigger | None:
    text = said.get("schedule", said.get("frequency#Type"))
    if text is None:
        return None
    return CronTrigger(
        schedule=text,
        time_zone=said.get("time_zone", "UTC"),
        catch_up=said.get("catch_up", CatchUp.LATEST),
    )


def _updates(said: Mapping[str, Any]) -> UpdateTrigger | None:
    if "on_update" in said:
        return UpdateTrigger(datasets=said["on_update"])
    names = said.get("on_update_any")
    return None if names is None else UpdateTrigger(datasets=names, any=True)


# What must hold of a job, by itself and among others: a typo in its settings never passes.


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
