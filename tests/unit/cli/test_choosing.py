"""What a call to run means."""

from __future__ import annotations

import pytest

from lakeguard.services.choose_datasets import choose_all, choose_named, choose_selected
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, Severity
from lakeguard_sdk.errors import BuiltByProgram, NothingSelected, NotRegistered
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    FromFrame,
    FromSql,
    RuleDefinition,
)

EVENTS, RAW, CLEAN, TOTAL, OLD = (
    DatasetName(name)
    for name in ("bronze.events", "bronze.raw", "silver.clean", "gold.total", "silver.old")
)


def dataset(
    name: DatasetName, *parents: DatasetName, active: bool = True, rules: tuple[str, ...] = ()
) -> DatasetDefinition:
    return DatasetDefinition(
        dataset=name,
        domain="d",
        owner="o",
        parents=parents,
        active=active,
        build=FromFrame() if name == EVENTS else FromSql(file="sql/a.sql", text="SELECT 1 AS n"),
        load={"type": LoadType.FULL},
        columns=(ColumnDefinition(name="n", type="integer"),),
        rules=tuple(map(rule, rules)),
    )


def rule(text: str) -> RuleDefinition:
    return RuleDefinition(
        rule_id=text, rule_type=text.partition("(")[0], expression=text, severity=Severity.FAIL
    )


DATASETS = (
    dataset(EVENTS),
    dataset(RAW),
    dataset(CLEAN, RAW, EVENTS),
    dataset(OLD, RAW, active=False),
    dataset(TOTAL, CLEAN, OLD),
)


def test_all_leaves_out_what_no_run_builds_and_what_is_not_active() -> None:
    chosen = choose_all(DATASETS)
    assert list(chosen.parents) == [RAW, CLEAN, TOTAL]
    assert chosen.parents[TOTAL] == (CLEAN, OLD)
    assert chosen.left_out == {
        EVENTS: "built by a program: tx.publish",
        OLD: "inactive",
    }


def test_named_ones_and_nothing_else() -> None:
    chosen = choose_named([TOTAL, RAW], DATASETS, with_parents=False)
    assert (set(chosen.parents), chosen.left_out) == ({RAW, TOTAL}, {})


def test_named_ones_with_all_that_they_are_built_from() -> None:
    chosen = choose_named([CLEAN], DATASETS, with_parents=True)
    assert set(chosen.parents) == {RAW, CLEAN}
    assert list(chosen.left_out) == [EVENTS]


def test_a_named_one_that_is_not_active_is_left_to_the_gate() -> None:
    assert set(choose_named([OLD], DATASETS, with_parents=False).parents) == {OLD}


def test_a_named_one_that_a_program_publishes_is_refused() -> None:
    with pytest.raises(BuiltByProgram, match=r"tx\.publish"):
        choose_named([RAW, EVENTS], DATASETS, with_parents=False)


A, B, C = (DatasetName(f"bronze.{name}") for name in "abc")


@pytest.mark.parametrize(
    "text",
    [
        "foreign_key(n -> bronze.b(n))",
        "not_in_reference(n -> bronze.b(n))",
        "dataset_equal(n -> bronze.b(n))",
    ],
)
def test_what_rules_refer_to_runs_first(text: str) -> None:
    datasets = (dataset(A, rules=(text, "not_null(n)")), dataset(B))
    assert choose_all(datasets).after == {A: (B,)}
    assert choose_named([A, B], datasets, with_parents=False).after == {A: (B,)}
    assert choose_named([A], datasets, with_parents=True).after == {}, "it is not chosen"


def test_a_rule_that_is_not_active_orders_nothing() -> None:
    off = rule("foreign_key(n -> bronze.b(n))").model_copy(update={"active": False})
    referring = dataset(A).model_copy(update={"rules": (off,)})
    assert choose_all((referring, dataset(B))).after == {}


def test_references_that_go_round_order_nothing_that_waits_for_itself() -> None:
    to_a, to_b = "foreign_key(n -> bronze.a(n))", "foreign_key(n -> bronze.b(n))"
    assert choose_all((dataset(A, rules=(to_a,)),)).after == {}
    assert choose_all((dataset(A, rules=(to_b,)), dataset(B, A))).after == {}, "parents count"
    both = choose_all((dataset(A, rules=(to_b,)), dataset(B, rules=(to_a,))))
    assert both.after == {A: (B,)}


TAGGED = ColumnDefinition(name="email", type="string", tags=("pii",))


def shop() -> tuple[DatasetDefinition, ...]:
    """The datasets above; CLEAN has a tagged column, TOTAL another domain."""
    changed = {
        CLEAN: {"columns": (TAGGED,)},
        TOTAL: {"domain": "sales"},
    }
    return tuple(each.model_copy(update=changed.get(each.dataset, {})) for each in DATASETS)


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ([CLEAN], {CLEAN}),
        ([f"{RAW}+"], {RAW, CLEAN, TOTAL}),
        ([f"+{TOTAL}"], {RAW, CLEAN, TOTAL}),
        ([f"+{CLEAN}+"], {RAW, CLEAN, TOTAL}),
        (["tag:pii"], {CLEAN}),
        (["tag:pii+"], {CLEAN, TOTAL}),
        (["+tag:pii"], {RAW, CLEAN}),
        (["domain:sales"], {TOTAL}),
        (["domain:d", "domain:sales"], {RAW, CLEAN, TOTAL}),
        ([OLD], {OLD}),
    ],
)
def test_selectors(selectors: list[str], expected: set[DatasetName]) -> None:
    assert set(choose_selected(selectors, shop()).parents) == expected


def test_what_a_selector_adds_is_left_out_with_its_reason() -> None:
    assert choose_selected([f"+{CLEAN}"], shop()).left_out == {
        EVENTS: "built by a program: tx.publish"
    }
    assert choose_selected([f"{RAW}+"], shop()).left_out == {OLD: "inactive"}


def test_only_what_changed_of_what_is_selected() -> None:
    assert set(choose_selected([f"{RAW}+"], shop(), only=[TOTAL, EVENTS]).parents) == {TOTAL}
    assert set(choose_selected([], shop(), only=[TOTAL]).parents) == {TOTAL}
    assert choose_selected([CLEAN], shop(), only=[]).parents == {}


@pytest.mark.parametrize(
    ("selector", "hint"),
    [
        ("tag:pi", "did you mean pii"),
        ("domain:sale", "did you mean sales"),
        ("gold.totl+", "total"),
    ],
)
def test_a_selector_of_nothing_is_refused(selector: str, hint: str) -> None:
    with pytest.raises(NothingSelected, match=hint):
        choose_selected([selector], shop())


def test_a_name_that_is_not_registered_is_refused() -> None:
    with pytest.raises(NotRegistered, match=r"did you mean gold\.total"):
        choose_selected(["gold.totl"], shop())
