"""definitions.schema.json accepts exactly what the parser accepts, and is current."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from hypothesis import given
from jsonschema import Draft202012Validator

from lakeguard.registry.editing.export import definition_files
from lakeguard_sdk.model.definitions import Definitions
from tests.support.examples import examples
from tests.support.projects.definition_folders import SHOP, mistakes
from tests.support.strategies.definitions import definitions
from tools.docs.editor_schema import editor_schema

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "demo", ROOT / "packages/lakeguard/src/lakeguard/cli/template")
VALIDATOR = Draft202012Validator(json.loads(editor_schema()))
BRONZE = "definitions/bronze/orders.yaml"
SILVER = "definitions/silver/orders.yaml"
SOURCE = "definitions/sources/orders.yaml"
POLICY = "definitions/policies/no_pii.yaml"
MORE = {
    "definitions/targets/raw.yaml": "target: raw\nlocation: raw\nzone: raw\nsources: [orders]\n",
    "definitions/jobs/load.yaml": "job: load\ndataset: bronze.orders\nconfig: {priority: 1}\n",
    "definitions/profiles/loose.yaml": "profile: loose\nallow_column_drop: true\n",
    "definitions/rules/some.yaml": "rule: some\nexpression: range({column}, min={low})\n",
}
WHOLE = {**SHOP, **MORE}


class EditorLoader(yaml.SafeLoader):
    """As an editor reads YAML: dates are texts."""


EditorLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if not tag.endswith(":timestamp")]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def parsed(text: str) -> Any:
    return yaml.load(text, EditorLoader)  # noqa: S506 - a SafeLoader


def marked(text: str) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(parsed(text))]


def example_files() -> Iterator[tuple[str, str]]:
    for folder in FOLDERS:
        for path in sorted((folder / "definitions").rglob("*.yaml")):
            yield str(path.relative_to(ROOT)), path.read_text("utf-8")
    page = (ROOT / "docs" / "reference" / "definitions.md").read_text("utf-8")
    for number, text in enumerate(re.findall(r"```yaml\n(.*?)```", page, re.DOTALL), 1):
        yield f"docs/reference/definitions.md example {number}", text
    yield from ((name, text) for name, text in WHOLE.items() if name.endswith(".yaml"))


EXAMPLES = dict(example_files())


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(json.loads(editor_schema()))


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_passes(name: str) -> None:
    assert marked(EXAMPLES[name]) == []


@given(definitions())
@examples(15)
def test_whatever_is_accepted_passes(found: Definitions) -> None:
    files = {name: text for name, text in definition_files(found).items() if name.endswith("yaml")}
    assert {name: marked(text) for name, text in files.items() if marked(text)} == {}


@pytest.mark.parametrize("kind", [name for name in WHOLE if name.endswith(".yaml")])
def test_an_unknown_key_is_marked_in_every_kind_of_file(kind: str) -> None:
    broken = WHOLE[kind] + "actve: true\n"
    assert marked(broken)
    assert refused({kind: broken})


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        (BRONZE, "owner: sales", "owner: [sales]"),
        (BRONZE, "owner: sales\n", ""),
        (BRONZE, "source: orders\n", ""),
        (BRONZE, "source: orders", "source: {object: x}"),
        (BRONZE, "dataset: bronze.orders", "dataset: bronce.orders"),
        (BRONZE, "type: string, required: true", "type: strng"),
        (BRONZE, "required: true", "required: 'true'"),
        (BRONZE, "required: true", "requird: true"),
        (BRONZE, '["range(min=0)"]', "range(min=0)"),
        (SILVER, "parents: [bronze.orders]", "parents: bronze.orders"),
        (SILVER, "build: {sql: sql/orders.sql}", "build: sql/orders.sql"),
        (SILVER, "build: {sql: sql/orders.sql}", "build: {sql: sql/orders.txt}"),
        (SILVER, "- unique(order_id)", "- {rule: unique(order_id), severity: BAD}"),
        (SILVER, "rules:", "load: {type: SOMETIMES}\nrules:"),
        (SOURCE, "format: csv", "format: xls"),
        (SOURCE, "format: csv", "format: csv\noptions: {delimter: x}"),
        (SOURCE, "format: csv", "format: parquet\noptions: {delimiter: x}"),
        (SOURCE, "path: data/*.csv", "path: {a: b}"),
        (POLICY, "applies_to: gold", "applies_to: platinum"),
        (POLICY, "type: PII", "type: GDPR"),
        ("definitions/targets/raw.yaml", "sources: [orders]", "sources: {orders: x}"),
        ("definitions/jobs/load.yaml", "config: {priority: 1}", "config: [a]"),
        ("definitions/profiles/loose.yaml", "drop: true", "drop: maybe"),
        ("definitions/rules/some.yaml", "expression: range({column}, min={low})\n", ""),
    ],
)
def test_a_mistake_of_structure_is_marked_and_refused(file: str, before: str, after: str) -> None:
    assert before in WHOLE[file]
    broken = WHOLE[file].replace(before, after)
    assert marked(broken)
    assert refused({file: broken})


def refused(changed: dict[str, str]) -> bool:
    with TemporaryDirectory() as folder:
        assert mistakes(Path(folder) / "good", dict(WHOLE)) == ()
        return bool(mistakes(Path(folder) / "bad", {**WHOLE, **changed}))
