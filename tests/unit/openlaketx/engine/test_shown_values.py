"""Row values in messages are short, and masked for private columns."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from pyspark.errors import AnalysisException

from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.duckdb_reader import duckdb_reader
from openlaketx.engine.shown_values import OURS, mask_columns, masked_message, shown_text
from openlaketx.engine.spark.errors import reason
from openlaketx.measure.duckdb_engine import DuckdbEngine
from openlaketx.measure.subject import Subject
from openlaketx.stage import Candidate
from tests.unit.openlaketx.engine.test_spark_errors import Java, SparkError

SECRET = "ada@example.org"
CAST = f"[CAST_INVALID_INPUT] The value '{SECRET}' cannot be cast. SQLSTATE: 22018"
ROW = f"[MALFORMED_RECORD_IN_PARSING] Malformed records are detected: [7,{SECRET},x]."


def test_a_value_is_cut_and_stays_on_its_line() -> None:
    assert shown_text("a\nb", "x") == "'a b'"
    assert shown_text(None, "x") == "NULL"
    assert shown_text("y" * 41, "x") == f"'{'y' * 40}…'"


def test_a_private_value_is_told_by_nobody() -> None:
    with mask_columns(["email"]):
        assert SECRET not in shown_text(SECRET, "email")
        assert shown_text("7", "n") == "'7'"
    assert shown_text(SECRET, "email") == f"'{SECRET}'"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (CAST, "CAST_INVALID_INPUT"),
        (ROW, "MALFORMED_RECORD_IN_PARSING"),
        (f"[USER_RAISED_EXCEPTION] bad {SECRET} SQLSTATE: P0001", "USER_RAISED_EXCEPTION"),
        (f'For input string: "{SECRET}"', "Odd"),
    ],
)
def test_spark_tells_no_value_where_a_column_is_private(message: str, kind: str) -> None:
    error = SparkError(Java("Job aborted due to stage failure", Java(message)))
    assert SECRET in reason(error)
    with mask_columns(["email", "name"]):
        reported = reason(error)
    assert SECRET not in reported
    assert reported.startswith(f"{kind}; ")
    assert "email, name" in reported


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            SparkError(Java(f"[USER_RAISED_EXCEPTION] {OURS}column n: 'x' is no number")),
            "column n: 'x'",
        ),
        (SparkError(Java("[DIVIDE_BY_ZERO] Division by zero.")), "Division by zero."),
        (
            SparkError(Java("[FAILED_READ_FILE.NO_HINT] Encountered error while reading a.csv")),
            "a.csv",
        ),
        (AnalysisException("[UNRESOLVED_COLUMN] no column `amout`"), "no column `amout`"),
    ],
)
def test_what_holds_no_value_is_told_all_the_same(error: Exception, expected: str) -> None:
    with mask_columns(["email"]):
        assert expected in reason(error)


def test_long_values_of_others_are_cut_and_words_are_not() -> None:
    long = "z" * 90
    assert masked_message(f"value '{long}' of \"STRING\"", "X") == (
        f"value '{'z' * 40}…' of \"STRING\""
    )
    plain = "it can't be read, as somebody wrote it otherwise, and so it isn't there"
    assert masked_message(plain, "X") == plain


def test_evidence_keeps_no_private_value_that_duckdb_names(tmp_path: Path) -> None:
    schema = TableSchema(columns=(Column(name="email", type="string"),))
    subject = Subject(Candidate(str(tmp_path), (), ()), schema, (), 0)
    with duckdb_reader() as reader:
        engine = DuckdbEngine(subject, reader)
        with pytest.raises(duckdb.Error) as raised:
            engine.rows("SELECT CAST($email AS INTEGER)", {"email": SECRET})
        assert SECRET in engine.reason(raised.value)
        with mask_columns(["email"]):
            assert engine.reason(raised.value).startswith("ConversionException; ")
