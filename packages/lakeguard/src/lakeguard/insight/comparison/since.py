"""Differences between two runs, by name rather than hash. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from lakeguard.registry.planning.diff import dataset_changes, rule_line
from lakeguard_sdk.core.enums import Enforcement
from lakeguard_sdk.model.definitions import DatasetDefinition, PolicyDefinition, RuleDefinition
from lakeguard_sdk.model.evidence import Evidence, InputVersion, SourceFile
from lakeguard_sdk.model.run import RunPlan, SourceBuild
from lakeguard_sdk.model.run_comparison import Difference, NamedFiles, Subject
from lakeguard_sdk.types.schema import TableSchema

_NAMED = 3
_BUILDS = {
    "sql": "the SQL",
    "sql file": "the file of the SQL",
    "python code": "the Python code",
    "python file": "the file of the Python code",
    "function": "the Python function",
}
_OPAQUE = ("as it was", "changed")
"""Shown for things known only by their hash."""
_HASHED = (Subject.BUILD, Subject.DEFINITION, Subject.SOURCE)
"""Differences that change the build hash."""
_SOURCE_FIELDS = ("format", "path", "url", "options", "secrets", "header", "malformed", "landing")


@dataclass(frozen=True)
class RunCase:
    """A run's inputs and output, as far as it got."""

    definition: DatasetDefinition
    rules: tuple[RuleDefinition, ...]
    policies: tuple[PolicyDefinition, ...]
    inputs: Mapping[str, tuple[str, int | None]]
    """Name and version by dataset id; None if nothing was published."""
    plan: RunPlan | None = None
    live: TableSchema | None = None
    evidence: Evidence | None = None
    semantics: int | None = None


def differences(before: RunCase, after: RunCase) -> Iterator[Difference]:
    """All differences; facts missing from either run are not compared."""
    yield from _inputs(before.inputs, after.inputs)
    yield from _changed(Subject.COLUMN, _columns(before), _columns(after))
    yield from _changed(Subject.RULE, _rules(before), _rules(after))
    yield from _changed(Subject.POLICY, _policies(before), _policies(after))
    work = [*_definition(before, after), *_planned(before.plan, after.plan)]
    yield from work
    explained = any(item.subject in _HASHED for item in work)
    yield from _measured(before, after, explained=explained)


@dataclass(frozen=True)
class FileChanges:
    """Source files compared with those the other run read."""

    new: NamedFiles | None = None
    changed: NamedFiles | None = None
    gone: NamedFiles | None = None


def file_changes(before: Iterable[SourceFile], after: Iterable[SourceFile]) -> FileChanges:
    old = {file.path: file for file in before}
    new = {file.path: file for file in after}
    return FileChanges(
        new=_files(file for path, file in new.items() if path not in old),
        changed=_files(f for path, f in new.items() if path in old and _other(old[path], f)),
        gone=_files(file for path, file in old.items() if path not in new),
    )


def _files(files: Iterable[SourceFile]) -> NamedFiles | None:
    found = sorted(files, key=lambda file: file.path)
    if not found:
        return None
    names = tuple(file.path for file in found[:_NAMED])
    return NamedFiles(count=len(found), names=names, bytes=sum(file.size for file in found))


def _other(before: SourceFile, after: SourceFile) -> bool:
    """A copy with another timestamp is the same file if content hashes are known."""
    if before.size != after.size:
        return True
    if before.sha256 and after.sha256:
        return before.sha256 != after.sha256
    return before.state != after.state


def _changed(
    subject: Subject, before: Mapping[str, str] | None, after: Mapping[str, str] | None
) -> Iterator[Difference]:
    if before is None or after is None:
        return
    for name in [*before, *(name for name in after if name not in before)]:
        old, new = before.get(name), after.get(name)
        if old != new:
            yield Difference(subject=subject, name=name, before=old, after=new)


def _inputs(
    before: Mapping[str, tuple[str, int | None]], after: Mapping[str, tuple[str, int | None]]
) -> Iterator[Difference]:
    """By dataset id, so that a rename is not a difference."""
    for key in [*before, *(key for key in after if key not in before)]:
        old, new = before.get(key), after.get(key)
        if old is None or new is None or old[1] != new[1]:
            name = (new or old or ("",))[0]
            yield Difference(
                subject=Subject.INPUT, name=name, before=_version(old), after=_version(new)
            )


def _version(read: tuple[str, int | None] | None) -> str | None:
    if read is None:
        return None
    return "not published" if read[1] is None else f"v{read[1]}"


def _columns(case: RunCase) -> dict[str, str] | None:
    return None if case.live is None else {c.name: c.type for c in case.live.columns}


def _rules(case: RunCase) -> dict[str, str]:
    return {rule.rule_id: rule_line(rule) for rule in case.rules}


def _policies(case: RunCase) -> dict[str, str]:
    return {policy.policy: _policy_line(policy) for policy in case.policies}


def _policy_line(policy: PolicyDefinition) -> str:
    """Expression, scope, and settings that differ from the defaults."""
    layer = policy.applies_to_layer or ""
    tag = f"tag {policy.applies_to_tag}" if policy.applies_to_tag else ""
    over = ", ".join(filter(None, (layer, policy.applies_to_domain, tag)))
    alert = " [ALERT]" if policy.enforcement is Enforcement.ALERT else ""
    inactive = "" if policy.active else " [inactive]"
    return f"{policy.expression}{f' for {over}' if over else ''}{alert}{inactive}"


def _definition(before: RunCase, after: RunCase) -> Iterator[Difference]:
    """Pinned rules and resolved settings."""
    resolved = before.plan is not None and after.plan is not None
    for change in dataset_changes(before.definition, after.definition):
        field = change.field
        if field.startswith("rule ") or (resolved and field.startswith("detail ")):
            continue
        subject = Subject.BUILD if field in _BUILDS else Subject.DEFINITION
        old, new = _OPAQUE if field == "python code" else (change.before, change.after)
        yield Difference(subject=subject, name=_BUILDS.get(field, field), before=old, after=new)


def _planned(before: RunPlan | None, after: RunPlan | None) -> Iterator[Difference]:
    if before is None or after is None:
        return
    yield from _changed(Subject.SOURCE, _source(before), _source(after))
    yield from _changed(Subject.SETTING, before.settings, after.settings)
    if before.transform != after.transform:
        old, new = _OPAQUE
        yield Difference(
            subject=Subject.BUILD, name="the transform of its target", before=old, after=new
        )
    yield from _changed(Subject.REFERENCE, _references(before), _references(after))


def _source(plan: RunPlan) -> dict[str, str] | None:
    """Source location and options, field by field."""
    if not isinstance(plan.build, SourceBuild):
        return None
    words: dict[str, str] = {}
    for field in _SOURCE_FIELDS:
        value = getattr(plan.build, field)
        if isinstance(value, dict):
            words |= {f"{field} {key}": value[key] for key in sorted(value)}
        else:
            words[field] = ", ".join(value) if isinstance(value, tuple) else str(value)
    return words


def _references(plan: RunPlan) -> dict[str, str]:
    read: Iterable[InputVersion] = (pin.input for pin in plan.references)
    return {item.dataset: f"v{item.version}" for item in read}


def _measured(before: RunCase, after: RunCase, *, explained: bool) -> Iterator[Difference]:
    """Software versions; they explain an otherwise unexplained build hash."""
    old, new = before.evidence, after.evidence
    alike = before.plan and after.plan and before.plan.build.build == after.plan.build.build
    if alike and old and new and old.build_hash != new.build_hash and not explained:
        yield Difference(
            subject=Subject.ENGINE,
            name="the data plane",
            before="as it was",
            after="another version of it, or other settings of Spark",
        )
    engines = None if old is None else {"measured by": old.engine}
    yield from _changed(
        Subject.ENGINE, engines, None if new is None else {"measured by": new.engine}
    )
    if before.semantics and after.semantics:
        known = {"semantics of the gate": str(before.semantics)}
        yield from _changed(Subject.ENGINE, known, {"semantics of the gate": str(after.semantics)})
