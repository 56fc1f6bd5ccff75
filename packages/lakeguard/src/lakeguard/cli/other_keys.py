"""Keys of other datasets that the columns of one may refer to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lakeguard.gate.grammar import read_rule
from lakeguard.gate.grammar_error import GrammarError
from lakeguard.insight.suggesting import OtherKey
from lakeguard_sdk.client import Client
from lakeguard_sdk.definition import DatasetDefinition
from lakeguard_sdk.names import DatasetName


def other_keys(client: Client, definition: DatasetDefinition) -> Iterator[OtherKey]:
    """Keys of one column, each column from one dataset: of the same layer if there is one.

    Datasets that are made of this one, or that show nothing yet, have none for it.
    """
    known = {item.dataset: item for item in client.registry.definitions().datasets}
    shown = {row.dataset.dataset_name for row in client.reader.status() if row.published}
    layer = definition.dataset.layer
    taken: set[str] = set()
    for name in sorted(shown, key=lambda name: (name.layer is not layer, name)):
        other = known.get(name)
        if other is None or not other.active or _made_of(name, definition.dataset, known):
            continue
        for column in sorted(_keys(other) - taken):
            data_type = other.table_schema.type_of(column)
            if data_type is not None:
                taken.add(column)
                yield OtherKey(dataset=name, column=column, type=data_type)


def _made_of(
    name: DatasetName, origin: DatasetName, known: Mapping[DatasetName, DatasetDefinition]
) -> bool:
    """Whether it is the dataset itself, or descends from it."""
    seen: set[DatasetName] = set()
    left = [name]
    while left:
        one = left.pop()
        if one == origin:
            return True
        if one not in seen and one in known:
            seen.add(one)
            left.extend(known[one].parents)
    return False


def _keys(definition: DatasetDefinition) -> set[str]:
    keys = set(definition.load.keys if len(definition.load.keys) == 1 else ())
    for rule in definition.rules:
        try:
            read = read_rule(rule.expression).rule
        except GrammarError:
            continue
        whole = read.where is None and read.fail_if is None and read.warn_if is None
        if rule.active and read.rule_type == "unique" and len(read.columns) == 1 and whole:
            keys.add(read.columns[0])
    return keys
