"""References of rules must exist and be comparable."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.registry.load_folder import load_folder
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.snapshot import RegistryState
from lakeguard.registry.text.definition_positions import sharpened
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import (
    DefinitionError,
    InvalidDefinitions,
    RuleMeaning,
    UnknownColumn,
    UnknownReference,
)
from lakeguard_sdk.model.definitions import DatasetDefinition, Definitions
from tests.support.projects.definition_folders import write_folder
from tests.support.projects.registries import small_registry
from tests.unit.registry.test_planning import registered

CODES = """\
dataset: bronze.codes
owner: tests
domain: shop
source: orders
load: {type: APPEND}
columns:
  code: {type: string}
  number: {type: long}
  ratio: {type: double}
  day: {type: date}
"""
ORDERS = """\
dataset: bronze.orders
owner: tests
domain: shop
source: orders
load: {type: APPEND}
columns:
  id: {type: integer}
  code: {type: string%s}
  at: {type: timestamp}
  follows: {type: integer}
rules:
%s
"""


def folder(tmp_path: Path, rule: str, *, inner: str = "", codes: str = CODES) -> Definitions:
    listed = f"  - {rule}" if rule else "  []"
    write_folder(
        tmp_path,
        {
            "definitions/sources/orders.yaml": "source: orders\nformat: csv\npath: in/*.csv\n",
            "definitions/bronze/codes.yaml": codes,
            "definitions/bronze/orders.yaml": ORDERS % (inner, listed),
        },
    )
    return load_folder(tmp_path)


def refused(tmp_path: Path, definitions: Definitions) -> DefinitionError:
    with pytest.raises(InvalidDefinitions) as found:
        make_plan(definitions, RegistryState())
    (error,) = found.value.errors
    return sharpened(error, tmp_path)


def shown(tmp_path: Path, error: DefinitionError) -> str:
    """The very characters that an error points at."""
    place = error.place
    assert place.line is not None
    assert place.column is not None
    line = (tmp_path / place.file).read_text("utf-8").splitlines()[place.line - 1]
    return line[place.column - 1 : place.column - 1 + (place.length or 0)]


@pytest.mark.parametrize(
    ("rule", "kind", "expected", "at"),
    [
        ("foreign_key(code -> bronze.code(code))", UnknownReference,
         "dataset 'bronze.code' does not exist; did you mean bronze.codes?", "bronze.code"),
        ("not_in_reference(code -> silver.nothing(code))", UnknownReference,
         "dataset 'silver.nothing' does not exist", "silver.nothing"),
        ("foreign_key(code -> bronze.codes(cod))", UnknownColumn,
         "bronze.codes has no column 'cod'; did you mean code?", "cod"),
        ("foreign_key(code, id -> bronze.codes(code, nr))", UnknownColumn,
         "bronze.codes has no column 'nr'", "nr"),
        ("foreign_key(code -> bronze.codes(number))", RuleMeaning,
         "code (string) is never equal to number of bronze.codes (long)", "number"),
        ("foreign_key(id -> bronze.codes(ratio))", RuleMeaning,
         "ratio of bronze.codes is double, which cannot be a key", "ratio"),
        ("not_in_reference(id -> bronze.codes(day))", RuleMeaning,
         "id (integer) is never equal to day of bronze.codes (date)", "day"),
        ("foreign_key(id -> bronze.orders(id))", RuleMeaning,
         "foreign_key compares the columns of bronze.orders with themselves", "bronze.orders"),
        ("dataset_equal(-> bronze.orders)", RuleMeaning,
         "dataset_equal compares the columns of bronze.orders with themselves", "bronze.orders"),
        ("dataset_equal(-> bronze.nothing)", UnknownReference,
         "dataset 'bronze.nothing' does not exist", "bronze.nothing"),
        ("dataset_equal(id, code -> bronze.codes(ratio, cod))", UnknownColumn,
         "bronze.codes has no column 'cod'", "cod"),
        ("dataset_equal(id -> bronze.codes(day))", RuleMeaning,
         "id (integer) is never equal to day of bronze.codes (date)", "day"),
        ("foreign_key(id -> bronze.orders(nr))", UnknownColumn,
         "bronze.orders has no column 'nr'", "nr"),
    ],
)  # fmt: skip
def test_refused_at_its_place(
    tmp_path: Path, rule: str, kind: type[DefinitionError], expected: str, at: str
) -> None:
    error = refused(tmp_path, folder(tmp_path, rule))
    assert isinstance(error, kind)
    assert expected in str(error)
    assert error.place.line == 12
    assert shown(tmp_path, error) == at


def test_refused_below_its_column(tmp_path: Path) -> None:
    inner = ', rules: ["foreign_key(-> bronze.codes(cod))"]'
    error = refused(tmp_path, folder(tmp_path, "", inner=inner))
    assert isinstance(error, UnknownColumn)
    assert (error.place.line, shown(tmp_path, error)) == (8, "cod")


@pytest.mark.parametrize(
    "rule",
    [
        "foreign_key(code -> bronze.codes(code))",
        "foreign_key(id -> bronze.codes(number))",
        "foreign_key(at -> bronze.codes(day))",
        "foreign_key(follows -> bronze.orders(id))",
        "not_in_reference(follows -> bronze.orders(id))",
        "dataset_equal(id, code -> bronze.codes(ratio, code))",
        "dataset_equal(follows -> bronze.orders(id))",
    ],
)
def test_taken(tmp_path: Path, rule: str) -> None:
    assert make_plan(folder(tmp_path, rule), RegistryState()).steps


def test_all_columns_are_compared_where_both_have_the_same(tmp_path: Path) -> None:
    own = (ORDERS % ("", "  []")).replace("bronze.orders", "bronze.codes")
    definitions = folder(tmp_path, "dataset_equal(-> bronze.codes)", codes=own)
    assert make_plan(definitions, RegistryState()).steps
    more = own.replace("rules:", "  more: {type: long}\nrules:")
    error = refused(tmp_path, folder(tmp_path, "dataset_equal(-> bronze.codes)", codes=more))
    assert "bronze.codes also has more; list the columns to compare" in str(error)
    fewer = own.replace("  follows: {type: integer}\n", "")
    error = refused(tmp_path, folder(tmp_path, "dataset_equal(-> bronze.codes)", codes=fewer))
    assert "bronze.codes has no column 'follows'" in str(error)


def test_a_column_that_others_refer_to_stays(tmp_path: Path) -> None:
    before = folder(tmp_path, "foreign_key(code -> bronze.codes(code))")
    current = registered(*before.datasets)
    fewer = CODES.replace("  code: {type: string}\n", "")
    after = folder(tmp_path, "foreign_key(code -> bronze.codes(code))", codes=fewer)
    codes = next(item for item in after.datasets if item.dataset == "bronze.codes")
    assert isinstance(codes, DatasetDefinition)
    with pytest.raises(InvalidDefinitions) as found:
        make_plan(Definitions(datasets=(codes,)), current)
    (error,) = found.value.errors
    assert isinstance(error, UnknownColumn)
    assert (error.place.file, error.fields["column"]) == (
        "definitions/bronze/orders.yaml",
        "code",
    )


def test_a_column_that_others_refer_to_stays_in_the_state(tmp_path: Path) -> None:
    rule = "foreign_key(code -> bronze.codes(code))"
    fewer = CODES.replace("  code: {type: string}\n", "")
    with small_registry(tmp_path / "state") as registry:
        registry.register(folder(tmp_path / "before", rule))
        after = folder(tmp_path / "after", rule, codes=fewer)
        codes = next(item for item in after.datasets if item.dataset == "bronze.codes")
        with pytest.raises(InvalidDefinitions) as found:
            registry.register(Definitions(datasets=(codes,)))
    assert "bronze.codes has no column 'code'" in str(found.value.errors[0])


def codes_of(definitions: Definitions, **given: object) -> DatasetDefinition:
    found = next(item for item in definitions.datasets if item.dataset == "bronze.codes")
    return found.model_copy(update=given)


def orders_of(definitions: Definitions, **given: object) -> DatasetDefinition:
    found = next(item for item in definitions.datasets if item.dataset == "bronze.orders")
    return found.model_copy(update=given)


def test_a_name_that_others_refer_to_goes_only_with_them(tmp_path: Path) -> None:
    before = folder(tmp_path, "foreign_key(code -> bronze.codes(code))")
    now = DatasetName("bronze.lists")
    renamed = codes_of(before, dataset=now, renamed_from=DatasetName("bronze.codes"))
    with small_registry(tmp_path / "state") as registry:
        registry.register(before)
        for together in ((renamed,), (renamed, orders_of(before))):
            with pytest.raises(InvalidDefinitions) as found:
                registry.plan(Definitions(datasets=together))
            (error,) = found.value.errors
            assert isinstance(error, UnknownReference)
            assert error.place.file == "definitions/bronze/orders.yaml"
            assert str(error) == (
                "dataset 'bronze.codes' does not exist; it is renamed to bronze.lists,"
                " update the rules of bronze.orders too"
            )
        given = orders_of(folder(tmp_path, "foreign_key(code -> bronze.lists(code))"))
        assert registry.register(Definitions(datasets=(renamed, given))).steps == 2


def test_a_dataset_that_refers_to_itself_is_renamed_with_its_rule(tmp_path: Path) -> None:
    before = folder(tmp_path, "foreign_key(follows -> bronze.orders(id))")
    named = {"dataset": DatasetName("bronze.sales"), "renamed_from": DatasetName("bronze.orders")}
    after = folder(tmp_path, "foreign_key(follows -> bronze.sales(id))")
    with small_registry(tmp_path / "state") as registry:
        registry.register(before)
        with pytest.raises(InvalidDefinitions) as found:
            registry.plan(Definitions(datasets=(orders_of(before, **named),)))
        (error,) = found.value.errors
        assert "'bronze.orders' does not exist; it is renamed to bronze.sales" in str(error)
        assert registry.register(Definitions(datasets=(orders_of(after, **named),))).steps == 1


def test_another_edit_is_taken_where_the_other_has_more_columns_by_now(tmp_path: Path) -> None:
    rule, own = "dataset_equal(-> bronze.codes)", ORDERS % ("", "  []")
    own = own.replace("bronze.orders", "bronze.codes")
    before = folder(tmp_path, rule, codes=own)
    more = own.replace("rules:", "  more: {type: long}\nrules:")
    after = folder(tmp_path, rule, codes=more)
    with small_registry(tmp_path / "state") as registry:
        registry.register(before)
        assert registry.register(Definitions(datasets=(codes_of(after),))).steps == 1
        edited = orders_of(before, owner="others")
        assert registry.register(Definitions(datasets=(edited,))).steps == 1
        named = orders_of(folder(tmp_path, "foreign_key(follows -> bronze.orders(id))"))
        registry.register(Definitions(datasets=(named,)))
        with pytest.raises(InvalidDefinitions) as found:
            registry.plan(Definitions(datasets=(edited,)))
    assert "bronze.codes also has more" in str(found.value.errors[0]), "it is said anew"


def test_what_was_wrong_before_is_not_held_against_a_column_that_goes(tmp_path: Path) -> None:
    rule, own = "dataset_equal(-> bronze.codes)", ORDERS % ("", "  []")
    own = own.replace("bronze.orders", "bronze.codes")
    before = folder(tmp_path, rule, codes=own)
    more = own.replace("rules:", "  more: {type: long}\n  less: {type: long}\nrules:")
    with small_registry(tmp_path / "state") as registry:
        registry.register(before)
        registry.register(Definitions(datasets=(codes_of(folder(tmp_path, rule, codes=more)),)))
        fewer = more.replace("  less: {type: long}\n", "")
        codes = codes_of(folder(tmp_path, rule, codes=fewer))
        assert registry.register(Definitions(datasets=(codes,))).steps == 1
