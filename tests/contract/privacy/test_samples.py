"""Samples of failing rows over the ports of a control plane: what is kept, and what never is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk import Client
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import (
    Enforcement,
    Outcome,
    Severity,
    SourceFormat,
)
from lakeguard_sdk.errors import Fenced, SampleNotMasked, SampleRefused, UnknownRun
from lakeguard_sdk.expressions.measures import SampleMatches, measure_key
from lakeguard_sdk.model.definitions import ColumnDefinition, Definitions, PolicyDefinition
from lakeguard_sdk.model.row_sample import (
    LONGEST_TEXT,
    MASKED,
    MOST_SAMPLED,
    text_columns_to_mask,
)
from lakeguard_sdk.model.run import Failure
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.lakes.sampled_runs import (
    FAILS,
    WARNS,
    blocked_run,
    decide,
    open_run,
    sampled_definitions,
)
from tests.support.projects.definitions import (
    dataset,
    policy,
    rule,
    source,
)
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")


def world(folder: Path, *tags: str, **given: Any) -> Client:
    return make_project(folder, sampled_definitions(*tags, **given))


def test_a_blocked_run_shows_failing_rows(tmp_path: Path) -> None:
    client = world(tmp_path)
    ticket = blocked_run(client)
    assert client.reader.samples(ticket.run_id) == ()
    client.runs.submit_samples(ticket, (WARNS, FAILS))
    assert client.reader.samples(ticket.run_id) == (FAILS, WARNS)
    with pytest.raises(UnknownRun):
        client.reader.samples("run_unknown")


def test_a_run_that_goes_on_shows_them_before_it_moves(tmp_path: Path) -> None:
    lenient = rule("range(n, max=5)", rule_id="small", severity=Severity.WARN)
    columns = (ColumnDefinition(name="n", type="long"),)
    numbers = dataset(str(NUMBERS), columns=columns, rules=(lenient,))
    client = make_project(tmp_path, Definitions(sources=(source(),), datasets=(numbers,)))
    plan = open_run(client)
    assert decide(client, plan).allowed
    client.runs.submit_samples(plan.ticket, (WARNS,))
    commit = DeltaLake().publish(client.runs.begin_move(plan.ticket))
    client.runs.complete_move(plan.ticket, commit)
    assert client.reader.samples(plan.ticket.run_id) == (WARNS,)
    client.runs.submit_samples(plan.ticket, (WARNS,))
    other = open_run(client)
    assert decide(client, other).allowed
    commit = DeltaLake().publish(client.runs.begin_move(other.ticket))
    client.runs.complete_move(other.ticket, commit)
    with pytest.raises(Fenced):
        client.runs.submit_samples(other.ticket, (WARNS,))


def test_the_same_again_changes_nothing(tmp_path: Path) -> None:
    client = world(tmp_path)
    ticket = blocked_run(client)
    for _ in range(2):
        client.runs.submit_samples(ticket, (FAILS, WARNS))
    client.runs.submit_samples(ticket, ())
    for others in ((FAILS,), (WARNS.model_copy(update={"rows": (("8",),)}), FAILS)):
        with pytest.raises(SampleRefused, match="others were kept before"):
            client.runs.submit_samples(ticket, others)
    assert client.reader.samples(ticket.run_id) == (FAILS, WARNS)


def test_only_the_attempt_itself_brings_samples(tmp_path: Path) -> None:
    client = world(tmp_path)
    ticket = blocked_run(client)
    forged = ticket.model_copy(update={"lease_token": "lease_guessed"})
    with pytest.raises(Fenced):
        client.runs.submit_samples(forged, (FAILS,))
    failed = open_run(client)
    client.runs.fail_run(failed.ticket, Failure(code="LG-5004", message="it broke"))
    with pytest.raises(Fenced):
        client.runs.submit_samples(failed.ticket, (FAILS,))
    early = open_run(client)
    with pytest.raises(SampleRefused, match="asks for no rows of it"):
        client.runs.submit_samples(early.ticket, (FAILS,))


@pytest.mark.parametrize(
    ("odd", "problem"),
    [
        ({"rule_id": "some"}, "asks for no rows of it"),
        ({"rule_id": "unknown"}, "asks for no rows of it"),
        ({"rows": ()}, "it has 0 rows"),
        ({"rows": (("1",),) * (MOST_SAMPLED + 1)}, "it has 21 rows"),
        ({"rows": (("1", "2"),)}, "more or fewer values"),
        ({"columns": ("other",)}, "no such columns"),
        ({"columns": ()}, "no such columns"),
        ({"columns": ("n", "n"), "rows": (("1", "1"),)}, "each once"),
        ({"rows": (("1" * (LONGEST_TEXT + 1),),)}, "more than 100 characters"),
        ({"masked": ("other",)}, "not among its columns"),
        ({"masked": ("n", "n"), "rows": ((MASKED,),)}, "each once"),
    ],
)
def test_what_is_no_sample_of_the_run_is_refused(
    tmp_path: Path, odd: dict[str, Any], problem: str
) -> None:
    client = world(tmp_path)
    ticket = blocked_run(client)
    with pytest.raises(SampleRefused, match=problem):
        client.runs.submit_samples(ticket, (WARNS, FAILS.model_copy(update=odd)))
    assert client.reader.samples(ticket.run_id) == (), "all or none"


def test_a_rule_has_one_sample(tmp_path: Path) -> None:
    client = world(tmp_path)
    ticket = blocked_run(client)
    with pytest.raises(SampleRefused, match="2 of it came"):
        client.runs.submit_samples(ticket, (FAILS, FAILS))


@pytest.mark.parametrize("spelled", ["n", "N"])
def test_a_private_column_is_never_shown(tmp_path: Path, spelled: str) -> None:
    client = world(tmp_path, "identifier")
    plan = open_run(client)
    assert plan.masked == ("n",)
    decide(client, plan)
    given = {"columns": (spelled,), "masked": (spelled,), "rows": ((MASKED,),)}
    masked = WARNS.model_copy(update=given)
    for odd in ({"masked": ()}, {"rows": (("7",),)}, {"rows": ((None,),)}):
        with pytest.raises(SampleNotMasked, match="values of"):
            client.runs.submit_samples(plan.ticket, (masked.model_copy(update=odd),))
    client.runs.submit_samples(plan.ticket, (masked,))
    assert client.reader.samples(plan.ticket.run_id) == (masked,)


def test_what_is_said_to_be_masked_is(tmp_path: Path) -> None:
    client = world(tmp_path)
    ticket = blocked_run(client)
    with pytest.raises(SampleNotMasked):
        client.runs.submit_samples(ticket, (WARNS.model_copy(update={"masked": ("n",)}),))


def test_a_tag_that_came_down_is_masked_though_no_policy_asks(tmp_path: Path) -> None:
    first = dataset(
        str(NUMBERS), columns=(ColumnDefinition(name="n", type="long", tags=("person",)),), rules=()
    )
    second = dataset(
        "silver.named",
        str(NUMBERS),
        columns=(ColumnDefinition(name="who", type="long"),),
        rules=(),
    )
    text = f"select n as who from {NUMBERS}\n"
    second = second.model_copy(update={"build": second.build.model_copy(update={"text": text})})
    client = make_project(tmp_path, Definitions(sources=(source(),), datasets=(first, second)))
    run_by_hand(client, [1])
    assert open_run(client, DatasetName("silver.named")).masked == ("who",)


def test_a_discarded_run_keeps_no_samples(tmp_path: Path) -> None:
    text = "forbid pattern '[0-9]{3}' in samples"
    forbidding = policy("no_numbers", applies_to_layer=None, expression=text)
    note = ColumnDefinition(name="note", type="string")
    client = world(tmp_path, policies=(forbidding,), more=(note,))
    plan = open_run(client)
    decision = decide(client, plan)
    assert decision.ruling.discard
    with pytest.raises(SampleRefused, match="asks for no rows of it"):
        client.runs.submit_samples(plan.ticket, (FAILS,))
    assert client.reader.samples(plan.ticket.run_id) == ()


TEXTS = (
    ColumnDefinition(name="note", type="string"),
    ColumnDefinition(name="place", type="struct<zip: string, level: long>"),
)


def with_texts(folder: Path, forbidding: PolicyDefinition) -> Client:
    made = sampled_definitions(policies=(forbidding,), more=TEXTS)
    files = (source(format=SourceFormat.PARQUET),)
    return make_project(folder, made.model_copy(update={"sources": files}))


@pytest.mark.parametrize("measured", [True, False], ids=["found", "not looked for"])
def test_no_text_is_told_where_a_forbidden_pattern_may_be_in_it(
    tmp_path: Path, measured: bool
) -> None:
    text = "forbid pattern '[0-9]{3}' in samples"
    alert = policy(
        "no_numbers", applies_to_layer=None, expression=text, enforcement=Enforcement.ALERT
    )
    client = with_texts(tmp_path, alert)
    plan = open_run(client)
    asked = tuple(m for m in plan.measures if measured or not isinstance(m, SampleMatches))
    decision = decide(client, plan.model_copy(update={"measures": asked}))
    outcome = next(c.outcome for c in decision.ruling.checks if c.check_id == "no_numbers")
    assert outcome is (Outcome.WARN if measured else Outcome.ERROR)
    for name in ("note", "place", "place.zip"):
        shown = WARNS.model_copy(update={"columns": ("n", name), "rows": (("7", "123"),)})
        with pytest.raises(SampleNotMasked, match=name):
            client.runs.submit_samples(plan.ticket, (shown,))
    masked = shown.model_copy(update={"masked": (name,), "rows": (("7", MASKED),)})
    client.runs.submit_samples(plan.ticket, (masked,))
    assert text_columns_to_mask(decision.ruling, plan.table_schema) == ("note", "place")


def test_texts_are_told_where_no_pattern_was_found(tmp_path: Path) -> None:
    text = "forbid pattern '[0-9]{3}' in samples"
    client = with_texts(tmp_path, policy(applies_to_layer=None, expression=text))
    plan = open_run(client)
    clean = {measure_key(m): 0 for m in plan.measures if isinstance(m, SampleMatches)}
    decision = decide(client, plan, clean)
    shown = WARNS.model_copy(update={"columns": ("note",), "rows": (("some",),)})
    client.runs.submit_samples(plan.ticket, (shown,))
    assert text_columns_to_mask(decision.ruling, plan.table_schema) == ()
