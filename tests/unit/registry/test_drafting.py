"""Draft datasets from any file."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.registry.drafts import load_draft
from lakeguard_sdk.errors import InvalidDefinitions, NothingDrafted

DRAFT = """\
dataset: bronze.NAME
owner: tests
domain: shop
source: orders
load: {type: APPEND}
columns:
  id: {type: long, required: true}
rules:
  - RULE
"""


def draft(name: str = "orders", rule: str = "unique(id)") -> str:
    return DRAFT.replace("NAME", name).replace("RULE", rule)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "definitions").mkdir()
    return tmp_path


def test_one_file_wherever_it_lies(project: Path, tmp_path: Path) -> None:
    file = tmp_path / "anywhere.yaml"
    file.write_text(draft())
    (found,) = load_draft(file, project)
    assert found.dataset == "bronze.orders"
    assert {rule.rule_id for rule in found.rules} == {"unique.id", "not_null.id"}


def test_several_documents_and_what_is_no_dataset(project: Path) -> None:
    file = project / "all.yaml"
    source = "source: orders\nformat: csv\npath: in/*.csv\n"
    file.write_text(f"---\n{source}---\n{draft()}---\n{draft('others')}")
    assert [found.dataset for found in load_draft(file, project)] == [
        "bronze.orders",
        "bronze.others",
    ]


def test_a_folder_of_definitions(project: Path) -> None:
    for name in ("orders", "others"):
        folder = project / "drafts" / "bronze"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.yaml").write_text(draft(name))
    (project / "drafts" / "source.yaml").write_text("source: orders\n")
    assert len(load_draft(project / "drafts", project)) == 2


def test_a_mistake_has_its_place_also_in_a_later_document(project: Path) -> None:
    file = project / "two.yaml"
    file.write_text(f"{draft()}---\n{draft('others', 'range(idd, max=3)')}")
    with pytest.raises(InvalidDefinitions) as raised:
        load_draft(file, project)
    (error,) = raised.value.errors
    assert (error.place.file, error.place.line) == ("two.yaml", 19)
    assert "idd" in str(error)


def test_rules_of_the_catalogue_are_the_project_s(project: Path) -> None:
    folder = project / "definitions" / "rules"
    folder.mkdir()
    (folder / "small.yaml").write_text(
        "rule: small\ndescription: Not large.\nexpression: range({column}, max=9)\n"
    )
    file = project / "orders.yaml"
    file.write_text(draft(rule="small(id)"))
    (found,) = load_draft(file, project)
    assert "range(id, max=9)" in {rule.expression for rule in found.rules}


def test_nothing_is_drafted_in_an_empty_folder(project: Path) -> None:
    (project / "empty").mkdir()
    with pytest.raises(NothingDrafted, match="defines no dataset"):
        load_draft(project / "empty", project)


@pytest.mark.parametrize("key", ["datset", "dataste", '"datset"', "Dataset"])
def test_a_misspelt_head_is_a_mistake_and_not_left_out(project: Path, key: str) -> None:
    file = project / "two.yaml"
    misspelt = draft("others").replace("dataset", key)
    file.write_text(f"{draft()}---\n{misspelt}")
    with pytest.raises(InvalidDefinitions) as raised:
        load_draft(file, project)
    assert {error.place.line for error in raised.value.errors} <= {11, 12}
    assert any("unknown key" in str(error) for error in raised.value.errors)
    folder = project / "drafts"
    folder.mkdir()
    (folder / "orders.yaml").write_text(draft())
    (folder / "others.yaml").write_text(misspelt)
    with pytest.raises(InvalidDefinitions) as raised:
        load_draft(folder, project)
    assert {error.place.file for error in raised.value.errors} == {"drafts/others.yaml"}


def test_a_quoted_key_is_the_same_key(project: Path) -> None:
    file, quoted = project / "two.yaml", draft("others").replace("dataset", '"dataset"')
    file.write_text(f"{draft()}---\n{quoted}")
    assert len(load_draft(file, project)) == 2


def test_every_other_kind_is_left_out(project: Path) -> None:
    folder = project / "drafts"
    folder.mkdir()
    others = (
        "format: csv\nsource: orders\n",
        "policy: p\ntype: retention\nexpression: x\n",
        "job: j\ndataset: bronze.orders\n",
        "target: t\nlocation: l\nzone: z\n",
        "rule: r\nexpression: x\n",
        "profile: strict\n",
    )
    (folder / "all.yaml").write_text("---\n".join([draft(), "# nothing\n", *others]) + "---")
    (folder / ".hidden.yaml").write_text("any: thing\n")
    assert len(load_draft(folder, project)) == 1


def test_a_document_of_no_kind_is_told(project: Path) -> None:
    file = project / "odd.yaml"
    file.write_text(f"{draft()}---\nsomething: else\n")
    with pytest.raises(InvalidDefinitions) as raised:
        load_draft(file, project)
    assert "unknown key 'something'" in str(raised.value.errors)
