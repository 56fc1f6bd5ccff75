"""The type of texts: never one in which a run could not read them."""

from __future__ import annotations

import re

import pytest

from openlaketx.conform.casts import text_guard
from openlaketx.source_inspection.sample_rows import sample_rows
from openlaketx.source_inspection.type_inference import text_facts
from tests.support.strategies.value_spellings import looked_types


def type_of(*texts: str | None) -> str:
    with sample_rows() as rows:
        rows.add_texts([list(texts)])
        return text_facts(rows, 0).type


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("1", "-7"), "integer"),
        (("1", "2147483648"), "long"),
        (("9223372036854775808",), "decimal(38,0)"),
        (("1" * 39,), "string"),
        (("007",), "string"),
        (("1", "-01"), "string"),
        (("+49",), "string"),
        (("0", "0.50", "10"), "decimal(18,2)"),
        ((".5", "2."), "decimal(18,1)"),
        (("12345678901234567890.5",), "decimal(38,1)"),
        (("0.1234567",), "double"),
        (("1e-3", "2"), "double"),
        (("1e999",), "string"),
        (("NaN", "1"), "string"),
        (("true", "FALSE"), "boolean"),
        (("true", "1"), "string"),
        (("2026-01-05", "0001-01-01"), "date"),
        (("2026-02-30",), "string"),
        (("0000-01-01",), "string"),
        (("2026-01-05 08:00:00", "2026-01-05T08:00:00.123456"), "timestamp_ntz"),
        (("2026-01-05 08:00:00", "2026-01-05T08:00:00Z"), "timestamp"),
        (("2026-01-05 08:00:00+14:59",), "timestamp"),
        (("9999-12-31T23:59:59-01:00",), "string"),
        (("2026-01-05", "2026-01-05 08:00:00"), "string"),
        ((" 1",), "string"),
        (("1\n",), "string"),
        (("", None), "string"),
        (("", None, "1"), "integer"),
    ],
)
def test_the_narrowest_that_is_offered(texts: tuple[str | None, ...], expected: str) -> None:
    assert type_of(*texts) == expected


def test_a_late_value_widens_what_the_first_look_saw() -> None:
    assert type_of(*["1"] * 5_000, "x") == "string"
    assert type_of(*["1"] * 5_000, "2.5") == "decimal(18,1)"


def test_what_is_proposed_has_the_spelling_that_a_run_reads() -> None:
    for text, data_type in looked_types().items():
        guard = text_guard(data_type)
        if guard is not None:
            assert re.search(guard.replace(r"\z", r"\Z"), text), (text, data_type)


def test_every_type_that_is_offered_is_among_them() -> None:
    offered = {data_type.partition("(")[0] for data_type in looked_types().values()}
    assert offered == {
        "boolean", "integer", "long", "decimal", "double", "date", "timestamp", "timestamp_ntz",
        "string",
    }  # fmt: skip
