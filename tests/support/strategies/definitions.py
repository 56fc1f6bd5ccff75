"""Registries of every kind that files and rows can say, with the names and texts that hurt."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from lakeguard.gate.policy_types.catalog import POLICY_KINDS
from lakeguard.gate.schema.profiles import POSSIBLE
from lakeguard.registry.files.builds import Built
from lakeguard.registry.files.rule_catalog import name_problem
from lakeguard.registry.kinds import every
from lakeguard.registry.text.characters import look_alike
from lakeguard.registry.text.definition_positions import by_file
from lakeguard.registry.validation.kind_invariants import definition_errors, rule_errors
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import (
    Enforcement,
    Layer,
    Severity,
    SourceFormat,
    TargetFormat,
)
from lakeguard_sdk.model.definitions import (
    CatalogueRule,
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromFrame,
    FromSource,
    FromSql,
    JobDefinition,
    PolicyDefinition,
    ProfileDefinition,
    RuleDefinition,
    SourceDefinition,
    SourceMapping,
    TargetDefinition,
)
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.schema_changes import ColumnOrigin, Reaction, SchemaChange
from tests.support.projects.definitions import rule
from tests.support.strategies.loads import any_load, python_build
from tests.support.strategies.sources import any_place
from tests.support.strategies.texts import (
    CHARACTERS,
    LONG_TEXTS,
    SOME_TEXTS,
    TEXTS,
    harmless,
)

NAMES = ("orders", "a__b", "end_", "x9y", "true", "null", "one_two_three")
COLUMNS: tuple[tuple[str, str], ...] = (
    ("order_id", "string"), ("Order Date", "date"), ("amount", "double"), ("a`b", "long"),
    ("Ünit #", "string"), ("range", "integer"), ("no", "boolean"), ("price", "decimal(10,2)"),
    ("- x: [y]", "timestamp"),
)  # fmt: skip
LEFT_OUT = ("debug blob", "null", "- y", "Übrig")
KEYS = ("Format", "path", "delimiter", "detail.x", "config.y", "a b", "transform", "mode")
WORDS = st.sampled_from(("folder", "raw", "build", "ingest_2", "s3"))
DETAILS = st.dictionaries(
    st.sampled_from(KEYS), st.text(CHARACTERS, max_size=8).filter(harmless), max_size=3
)
DATABASES = st.sampled_from(
    ("postgresql://db.example/reports", "postgresql:///x?host=/run/pg&sslmode=require")
)
DATABASE_SECRETS = st.sampled_from(
    ({}, {"user": "env:USER_NAME", "password": "file:/run/secrets/it"})
)
SECRETS = st.sampled_from(({}, {"token": "env:TOKEN"}, {"api_key": "secret://vault/key"}))
FLAGS = st.booleans()
TRANSFORMS = st.sampled_from(("", "SELECT * FROM batch", "SELECT 'a,\n\"b' AS x\nFROM batch"))


@st.composite
def definitions(draw: st.DrawFn) -> Definitions:
    """Valid together: whatever they name is among them."""
    sources = _sources(draw)
    targets = _targets(draw, sources)
    profiles = tuple(
        ProfileDefinition(
            profile=name,
            description=draw(LONG_TEXTS),
            reactions=_reactions(draw),
            **_flags(draw),
        )
        for name in _some(draw)
    )
    datasets = _datasets(draw, sources, targets, profiles)
    found = Definitions(
        profiles=profiles,
        catalogue=_catalogue(draw),
        sources=sources,
        targets=targets,
        datasets=datasets,
        policies=_policies(draw),
        jobs=_jobs(draw, datasets),
    )
    errors = [error for item in every(found) for error in definition_errors(item, by_file)]
    errors += [error for item in datasets for error in rule_errors(item, by_file)]
    assert not errors, [f"{error} {error.fields}" for error in errors]
    return found


def _some(draw: st.DrawFn, least: int = 0) -> list[str]:
    return draw(st.lists(st.sampled_from(NAMES), min_size=least, max_size=3, unique=True))


def _flags(draw: st.DrawFn) -> dict[str, bool]:
    names = ("allow_column_drop", "allow_type_widen", "allow_type_narrow", "auto_add_columns")
    return {name: draw(FLAGS) for name in (*names, "allow_nullable_change", "active")}


def _reactions(draw: st.DrawFn) -> dict[SchemaChange, Reaction]:
    open_to_all = [change for change, possible in POSSIBLE.items() if len(possible) > 1]
    chosen = draw(st.lists(st.sampled_from(open_to_all), max_size=3, unique=True))
    return {change: draw(st.sampled_from(POSSIBLE[change])) for change in chosen}


def _external(draw: st.DrawFn, count: int) -> list[str]:
    """Ids of another system; some of them are names of ours."""
    ids = st.one_of(st.just(""), st.sampled_from(NAMES), SOME_TEXTS, st.integers(1, 99).map(str))
    found: list[str] = []
    for text in draw(st.lists(ids, min_size=count, max_size=count)):
        taken = look_alike(text) in map(look_alike, found)
        found.append("" if taken else text)
    return found


def _sources(draw: st.DrawFn) -> tuple[SourceDefinition, ...]:
    names = _some(draw, 1)
    found = []
    for name, external in zip(names, _external(draw, len(names)), strict=True):
        details = draw(DETAILS)
        found.append(
            SourceDefinition(
                **any_place(draw),
                source=name,
                external_id=external,
                description=draw(LONG_TEXTS),
                owner=draw(TEXTS),
                details={**details, **draw(SECRETS)},
                active=draw(FLAGS),
            )
        )
    return tuple(found)


def _targets(
    draw: st.DrawFn, sources: tuple[SourceDefinition, ...]
) -> tuple[TargetDefinition, ...]:
    names = _some(draw)
    found = []
    for name, external in zip(names, _external(draw, len(names)), strict=True):
        mapped = draw(st.lists(st.sampled_from([s.source for s in sources]), unique=True))
        form = draw(st.sampled_from(TargetFormat))
        database = form is TargetFormat.POSTGRESQL
        found.append(
            TargetDefinition(
                target=name,
                location=f"zones/{name}",
                type=draw(WORDS),
                zone=draw(WORDS),
                format=form,
                url=draw(DATABASES) if database else "",
                secrets=draw(DATABASE_SECRETS) if database else {},
                partition_by=_columns_named(draw),
                transform=draw(TRANSFORMS),
                sources=tuple(
                    SourceMapping(
                        source=source,
                        relationship=draw(WORDS),
                        description=draw(LONG_TEXTS),
                        active=draw(FLAGS),
                    )
                    for source in mapped
                ),
                external_id=external,
                description=draw(LONG_TEXTS),
                details=draw(DETAILS),
                active=draw(FLAGS),
            )
        )
    return tuple(found)


def _columns_named(draw: st.DrawFn, among: tuple[str, ...] | None = None) -> tuple[str, ...]:
    names = among or tuple(name for name, _ in COLUMNS)
    return tuple(draw(st.lists(st.sampled_from(names), max_size=2, unique=True)))


def _catalogue(draw: st.DrawFn) -> tuple[CatalogueRule, ...]:
    texts = ("range({column}, min={low})", "unique({column})", "regex({column}, pattern='a,\"b')")
    return tuple(
        CatalogueRule(
            rule=name,
            expression=draw(st.sampled_from(texts)),
            severity=draw(st.sampled_from(Severity)),
            description=draw(LONG_TEXTS),
            active=draw(FLAGS),
        )
        for name in _some(draw)
        if name_problem(name) is None
    )


def _policies(draw: st.DrawFn) -> tuple[PolicyDefinition, ...]:
    given = st.sampled_from(
        [(kind.type, form.example) for kind in POLICY_KINDS.values() for form in kind.forms]
    )
    found = []
    for name in _some(draw):
        kind, text = draw(given)
        found.append(
            PolicyDefinition(
                policy=name,
                applies_to_layer=draw(st.none() | st.sampled_from(Layer)),
                applies_to_domain=draw(st.sampled_from(("", "finance", "Air & sea"))),
                applies_to_tag=draw(st.sampled_from(("", "pii"))),
                type=kind,
                expression=text,
                enforcement=draw(st.sampled_from(Enforcement)),
                active=draw(FLAGS),
            )
        )
    return tuple(found)


def _datasets(
    draw: st.DrawFn,
    sources: tuple[SourceDefinition, ...],
    targets: tuple[TargetDefinition, ...],
    profiles: tuple[ProfileDefinition, ...],
) -> tuple[DatasetDefinition, ...]:
    bronze = [DatasetName(f"bronze.{name}") for name in _some(draw, 1)]
    silver = [DatasetName(f"silver.{name}") for name in _some(draw)]
    gold = [DatasetName(f"gold.{name}") for name in _some(draw)] if silver else []
    names = [*bronze, *silver, *gold]
    known = ("default", "strict", *(profile.profile for profile in profiles))
    found = []
    external, objects = _external(draw, len(names)), _external(draw, len(names))
    for name, own, read in zip(names, external, objects, strict=True):
        below = {Layer.SILVER: bronze, Layer.GOLD: silver}.get(name.layer, [])
        parents = (
            draw(st.lists(st.sampled_from(below), min_size=1, max_size=2, unique=True))
            if below
            else []
        )
        columns = _columns(draw)
        build, allowed = _build(draw, name, parents, read, sources, targets)
        load = any_load(draw, columns)
        fitting = [name for name in allowed if _fits(name, targets, columns, load)]
        found.append(
            DatasetDefinition(
                dataset=name,
                domain=draw(SOME_TEXTS),
                owner=draw(SOME_TEXTS),
                description=draw(LONG_TEXTS),
                active=draw(FLAGS),
                parents=tuple(parents),
                build=build,
                load=load,
                profile=draw(st.sampled_from(known)),
                leave_out=tuple(draw(st.lists(st.sampled_from(LEFT_OUT), unique=True))),
                profile_every=draw(st.sampled_from(("", "version", "7d"))),
                target=draw(st.sampled_from((None, *fitting))),
                columns=columns,
                rules=_rules(draw, columns),
                external_id=own,
                details=draw(DETAILS),
            )
        )
    return tuple(found)


def _fits(
    name: str,
    targets: tuple[TargetDefinition, ...],
    columns: tuple[ColumnDefinition, ...],
    load: Load,
) -> bool:
    """Whether the target partitions by columns that are there, or is not asked."""
    (target,) = (target for target in targets if target.target == name)
    return bool(load.partition_by) or set(target.partition_by) <= {c.name for c in columns}


def _build(
    draw: st.DrawFn,
    name: DatasetName,
    parents: list[DatasetName],
    external_id: str,
    sources: tuple[SourceDefinition, ...],
    targets: tuple[TargetDefinition, ...],
) -> tuple[Built, list[str]]:
    """With the targets that such a build may write to."""
    anywhere = [target.target for target in targets]
    if draw(st.sampled_from((True, False, False))):
        return (python_build(name) if parents else FromFrame()), anywhere
    if parents:
        text = "SELECT 'a''b' AS x, p0.*\nFROM " + ", ".join(
            f"{parent} p{index}" for index, parent in enumerate(parents)
        )
        file = f"sql/{name.layer}/{name.name}.sql"
        return FromSql(file=file, text=text + draw(st.sampled_from(("", "\n")))), anywhere
    chosen = draw(st.sampled_from(sources))
    source = chosen.source
    read = draw(st.sampled_from(("", "part-*.csv", source, "a b/c,d")))
    if chosen.format is SourceFormat.JDBC:
        read = "public.orders"
    allowed = [t.target for t in targets if source in {mapping.source for mapping in t.sources}]
    return FromSource(source=source, object=read, external_id=external_id), allowed


def _columns(draw: st.DrawFn) -> tuple[ColumnDefinition, ...]:
    chosen = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=4, unique=True))
    return tuple(
        ColumnDefinition(
            name=name,
            type=kind,
            tags=tuple(draw(st.lists(st.sampled_from(("pii", "money", "x_1")), unique=True))),
            description=draw(LONG_TEXTS),
            nullable=draw(FLAGS),
            origin=draw(st.sampled_from(ColumnOrigin)),
            widened_from=draw(st.sampled_from(("", "", "short", "decimal(4,1)"))),
        )
        for name, kind in chosen
    )


def _rules(draw: st.DrawFn, columns: tuple[ColumnDefinition, ...]) -> tuple[RuleDefinition, ...]:
    given: list[tuple[str, dict[str, Any]]] = []
    for column in columns:
        name = "`" + column.name.replace("`", "``") + "`"
        for text in (f"not_null({name})", f"unique({name})", f"unique({name}) scope batch"):
            given.append((text, {}))
        if column.type in ("double", "integer", "long"):
            given.append((f"range({name}, min=0, max=1.5) fail_if > 1%", {}))
        if column.type == "string":
            given.append((f"in_set({name}, values=['a', 'b''\"', 'c,d'])", {}))
            given.append((f"unique({name}) where {name} <> 'x'", {}))
    given.append(("row_count(min=1)", {}))
    found: dict[str, RuleDefinition] = {}
    for text, _ in draw(st.lists(st.sampled_from(given), max_size=5, unique_by=lambda x: x[0])):
        own = draw(st.sampled_from((None, "my.rule-1", "other_rule")))
        severity = None if "fail_if" in text else draw(st.sampled_from(Severity))
        made = rule(text, rule_id=own, severity=severity, active=draw(FLAGS))
        found.setdefault(made.rule_id, made)
    return tuple(found.values())


def _jobs(draw: st.DrawFn, datasets: tuple[DatasetDefinition, ...]) -> tuple[JobDefinition, ...]:
    names = _some(draw)
    free: list[DatasetName | None] = [None, *(item.dataset for item in datasets)]
    config = st.sampled_from(
        ({}, {"status#ActiveConfig": "false"}, {"overlap": "skip", "priority": "5"},
         {"status#ActiveConfig": "ENABLED", "stepfn#Name": "x"})
    )  # fmt: skip
    found = []
    for name, external in zip(names, _external(draw, len(names)), strict=True):
        built, kind = draw(st.sampled_from(free)), draw(WORDS)
        if built is not None:
            free.remove(built)
        elif kind == "build":  # without a dataset it may only be listed
            kind = "export"
        found.append(
            JobDefinition(
                job=name,
                title=draw(TEXTS),
                description=draw(LONG_TEXTS),
                owner=draw(TEXTS),
                type=kind,
                dataset=built,
                details={**draw(DETAILS), **draw(SECRETS)},
                config={**_of_others(draw(DETAILS)), **draw(config)},
                external_id=external,
                active=draw(FLAGS),
            )
        )
    return tuple(found)


def _of_others(details: dict[str, str]) -> dict[str, str]:
    """Settings of other systems, which a job may have any of."""
    return {f"other#{key}": value for key, value in details.items()}
