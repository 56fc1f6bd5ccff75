"""Parses a job's settings: triggers, controls and limits.

Our own keys are plain words. Keys with a ``#`` belong to other systems: four of them are
interpreted, all others are stored and displayed.
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
from lakeguard_sdk.core.enums import BUILD_JOB_TYPES, QUEUED_KINDS, TaskKind
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
"""Marks a key of another system."""
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
"""Our keys, with the parser of each value."""

ALIASES: dict[str, Callable[[str], Any]] = {
    "frequency#Type": values.frequency,
    "trigger#EventBridge": values.rule_pattern,
    ACTIVE_CONFIG: values.flag,
    STEP_FUNCTION: values.name_elsewhere,
}
"""Interpreted keys of other systems; our own keys take precedence."""

TRIGGERS = ("schedule", "on_update", "on_update_any", "on_files", "on_event", "after")
_STARTED_BY = frozenset({*TRIGGERS, "frequency#Type", "trigger#EventBridge"})
_OF_TYPE = {"call": ("python",), "url": ("http",), "outputs": ("python", "http")}
_NEEDED = {"python": "call", "http": "url"}
NO_DATASET = "; or write the type of the job"
"""Hint for a build without a dataset."""


@dataclass(frozen=True)
class Mistake:
    """An error in a setting, reported at ``key``."""

    key: str
    problem: str
    """For a missing key: an optional hint."""
    missing: bool = False
    unknown: bool = False
    block: str = "config"
    """The mapping that holds the key; empty for the definition itself."""

    def __str__(self) -> str:
        if self.missing:
            return f"{self.key} is missing"
        return f"{self.key}: {self.problem}"


@dataclass(frozen=True)
class Reading:
    """Parsed settings and the errors found."""

    controls: JobControls
    active: bool
    mistakes: tuple[Mistake, ...] = ()

    def problem_of(self, job: str) -> str:
        """Why the job may not run with these settings; empty if they are valid."""
        return f"invalid settings of job {job}: {self.mistakes[0]}" if self.mistakes else ""


def is_known(key: str) -> bool:
    """Whether the key is ours, or belongs to another system (has a ``#``). An interpreted key in
    the wrong case is unknown, because it would be ignored."""
    return key in KEYS or (MARK in key and (key in ALIASES or key.casefold() not in _FOLDED))


def unknown_hint(key: str) -> str:
    near = did_you_mean(key, [*KEYS, *ALIASES])
    return near or f"; keys of other systems contain {MARK}, such as team{MARK}cost"


_FOLDED = frozenset(key.casefold() for key in ALIASES)


def controls_of(definition: JobDefinition) -> JobControls:
    """Settings with defaults; invalid ones count as absent. Never raises."""
    return read_controls(definition).controls


def read_controls(definition: JobDefinition) -> Reading:
    """The settings and every error in them."""
    parsed, mistakes = _parse_config(definition.config)
    mistakes += [*_contradictions(definition, parsed), *_details(definition)]
    kind = kind_of(definition)
    controls = JobControls(
        kind=kind,
        call=parsed.get("call", ""),
        url=parsed.get("url", ""),
        timeout_seconds=parsed.get("timeout", JobControls().timeout_seconds),
        cron=_cron(parsed),
        updates=_updates(parsed),
        files=parsed.get("on_files", ""),
        event=parsed.get("on_event", parsed.get("trigger#EventBridge")),
        **{key: parsed[key] for key in _UNCHANGED if key in parsed},
    )
    active = definition.active and parsed.get(ACTIVE_CONFIG, True)
    return Reading(controls, active, tuple(mistakes))


_UNCHANGED = ("after", "overlap", "concurrency", "priority", "labels", "attempts", "outputs")


def kind_of(definition: JobDefinition) -> TaskKind | None:
    """None if it cannot run here: a type of another system, or a build without a dataset."""
    if definition.type in BUILD_JOB_TYPES and definition.dataset is not None:
        return TaskKind.BUILD
    if definition.type not in QUEUED_KINDS:
        return None
    kind = TaskKind(definition.type)
    return None if kind is TaskKind.BUILD and definition.dataset is None else kind


def is_idle(definition: JobDefinition) -> bool:
    """Whether it is an active build without a dataset. That is an error if ``type: build`` is
    written, and a mere catalogue entry if no type is."""
    nothing = definition.type == TaskKind.BUILD and definition.dataset is None
    return nothing and read_controls(definition).active


def cannot_start(definition: JobDefinition) -> str:
    """Why an active job could never start although it is meant to; empty if it can, or if it is a
    catalogue entry that another system runs."""
    reading = read_controls(definition)
    if not reading.active:
        return ""
    if wrong := reading.problem_of(definition.job):
        return wrong
    started_here = STEP_FUNCTION not in definition.config and _STARTED_BY & set(definition.config)
    if reading.controls.kind is None and started_here:
        started = ", ".join(sorted(_STARTED_BY & set(definition.config)))
        return (
            f"job {definition.job} has {started}, but nothing here runs jobs of type"
            f" {definition.type}; name a dataset and type build"
        )
    return ""


def _parse_config(config: Mapping[str, str]) -> tuple[dict[str, Any], list[Mistake]]:
    parsed: dict[str, Any] = {}
    mistakes = []
    readers = {**KEYS, **ALIASES}
    for key, text in config.items():
        if not is_known(key):
            mistakes.append(Mistake(key, f"unknown key{unknown_hint(key)}", unknown=True))
        if key not in readers:
            continue
        try:
            parsed[key] = readers[key](text.strip())
        except ValueError as error:
            mistakes.append(Mistake(key, str(error)))
    return parsed, mistakes


def _contradictions(definition: JobDefinition, parsed: Mapping[str, Any]) -> list[Mistake]:
    """Settings that conflict with each other or with the job's type."""
    config, kind = definition.config, definition.type
    mistakes = _of_strange_type(definition) or [
        Mistake(key, f"not supported by jobs of type {kind}, only by {' and '.join(types)}")
        for key, types in _OF_TYPE.items()
        if key in config and kind not in types
    ]
    if {"on_update", "on_update_any"} <= set(config):
        mistakes.append(Mistake("on_update_any", "conflicts with on_update; write one of them"))
    timed = "schedule" in config or _may_be_timed(config, parsed)
    for key in ("time_zone", "catch_up"):
        if key in config and not timed:
            mistakes.append(Mistake(key, "needs a schedule"))
    if definition.job in parsed.get("after", ()):
        mistakes.append(Mistake("after", "a job cannot wait for itself"))
    needed = _NEEDED.get(kind)
    if needed and needed not in config:
        mistakes.append(Mistake(needed, "", missing=True))
    if _builds_nothing(definition):
        mistakes.append(Mistake("dataset", NO_DATASET, missing=True, block=""))
    return mistakes


def _may_be_timed(config: Mapping[str, str], parsed: Mapping[str, Any]) -> bool:
    """Whether another system's key sets a schedule, even an invalid one."""
    key = "frequency#Type"
    return key in config and parsed.get(key, "unread") is not None


def _builds_nothing(definition: JobDefinition) -> bool:
    """Whether the job has triggers or controls but no dataset. Without those, a job may be a
    catalogue entry that another system runs."""
    if definition.type != TaskKind.BUILD or definition.dataset is not None:
        return False
    parsed = set(definition.config)
    started_here = STEP_FUNCTION not in parsed and parsed & _STARTED_BY
    return bool(parsed & set(KEYS) or started_here)


def _details(definition: JobDefinition) -> list[Mistake]:
    """Details that a worker needs."""
    if definition.type == TaskKind.HTTP and SIGNING_SECRET not in definition.details:
        hint = "; the request is signed with it, env:NAME, file:PATH or secret://NAME"
        return [Mistake(SIGNING_SECRET, hint, missing=True, block="details")]
    return []


def _of_strange_type(definition: JobDefinition) -> list[Mistake]:
    """Jobs of other systems may be listed in the catalogue, but cannot be triggered here."""
    used = [key for key in (*TRIGGERS, *_OF_TYPE) if key in definition.config]
    if definition.type in QUEUED_KINDS or kind_of(definition) is not None or not used:
        return []
    near = did_you_mean(definition.type, [kind.value for kind in QUEUED_KINDS])
    problem = f"jobs of type {definition.type} cannot be run here, but have {', '.join(used)}{near}"
    return [Mistake("type", problem, block="")]


def _cron(parsed: Mapping[str, Any]) -> CronTrigger | None:
    text = parsed.get("schedule", parsed.get("frequency#Type"))
    if text is None:
        return None
    return CronTrigger(
        schedule=text,
        time_zone=parsed.get("time_zone", "UTC"),
        catch_up=parsed.get("catch_up", CatchUp.LATEST),
    )


def _updates(parsed: Mapping[str, Any]) -> UpdateTrigger | None:
    if "on_update" in parsed:
        return UpdateTrigger(datasets=parsed["on_update"])
    names = parsed.get("on_update_any")
    return None if names is None else UpdateTrigger(datasets=names, any=True)


# Errors of jobs, alone and among others.


def job_errors(job: JobDefinition, locate: Locate) -> Iterator[DefinitionError]:
    """Every error in a job's settings."""
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
    """Each cycle of jobs once, reported at a changed job."""
    every = {**others, **changed}
    for cycle in cycles({name: controls_of(job).after for name, job in every.items()}):
        for job, _ in pairwise(cycle):
            if job in changed:
                at = ("config", "after")
                place = by_file(changed[job], at)
                yield JobCycle(place, path=" → ".join(cycle), at=list(at))
                break
