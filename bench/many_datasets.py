"""Many bronze datasets of one make: twenty columns, five rules, as nouns and as files."""

from __future__ import annotations

from pathlib import Path

from lakeguard.gate.rules.compile import define_rule
from lakeguard.gate.rules.parse import parse_rule
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    RuleDefinition,
    SourceDefinition,
)
from lakeguard_sdk.model.load import Load

COLUMNS = 20
OWNER = "bench-team"
_SOURCE = "source: landing\nformat: parquet\npath: landing/*.parquet\n"


def many_definitions(count: int) -> Definitions:
    source = SourceDefinition(
        source="landing", format=SourceFormat.PARQUET, path="landing/*.parquet"
    )
    return Definitions(
        sources=(source,), datasets=tuple(_dataset(number) for number in range(count))
    )


def changed(definitions: Definitions, number: int, *, owner: str) -> Definitions:
    """The same definitions, one of them with another owner."""
    datasets = list(definitions.datasets)
    datasets[number] = datasets[number].model_copy(update={"owner": owner})
    return definitions.model_copy(update={"datasets": tuple(datasets)})


def write_folder(folder: Path, count: int) -> None:
    bronze, sources = folder / "definitions" / "bronze", folder / "definitions" / "sources"
    bronze.mkdir(parents=True)
    sources.mkdir()
    (sources / "landing.yaml").write_text(_SOURCE)
    for number in range(count):
        (bronze / f"{_name(number)}.yaml").write_text(_yaml(number, OWNER))


def write_changed(folder: Path, number: int, *, owner: str) -> None:
    file = folder / "definitions" / "bronze" / f"{_name(number)}.yaml"
    file.write_text(_yaml(number, owner))


def _name(number: int) -> str:
    return f"events_{number:05d}"


def _columns(number: int) -> dict[str, tuple[str, str]]:
    """Name, type and description of each."""
    kinds = ("string", "long", "double", "timestamp", "decimal(12,2)")
    return {
        f"field_{i}": (kinds[i % len(kinds)], f"What field {i} of the events {number} means")
        for i in range(COLUMNS)
    }


def _rules(number: int) -> tuple[str, ...]:
    return (
        "not_null(field_0)",
        "unique(field_0) scope batch",
        f"range(field_1, min=0, max={1000 + number})",
        "range(field_2, min=-1.5) warn_if > 1%",
        "row_count(min=1)",
    )


def _dataset(number: int) -> DatasetDefinition:
    return DatasetDefinition(
        dataset=DatasetName(f"bronze.{_name(number)}"),
        owner=OWNER,
        domain="bench",
        description=f"Events of kind {number}, as they came.",
        build=FromSource(source="landing"),
        load=Load(type=LoadType.APPEND),
        columns=tuple(
            ColumnDefinition(name=name, type=kind, description=text)
            for name, (kind, text) in _columns(number).items()
        ),
        rules=tuple(_rule(text) for text in _rules(number)),
    )


def _rule(text: str) -> RuleDefinition:
    return define_rule(parse_rule(text), rule_id=None, severity=None)


def _yaml(number: int, owner: str) -> str:
    columns = "".join(
        f"  {name}: {{type: '{kind}', description: {text}}}\n"
        for name, (kind, text) in _columns(number).items()
    )
    rules = "".join(f'  - "{rule}"\n' for rule in _rules(number))
    return (
        f"dataset: bronze.{_name(number)}\nowner: {owner}\ndomain: bench\n"
        f"description: Events of kind {number}, as they came.\n"
        f"source: landing\nload: APPEND\ncolumns:\n{columns}rules:\n{rules}"
    )
