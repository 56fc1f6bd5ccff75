"""Wrong arguments are reported with the correct call."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

from lakeguard_sdk.errors import WrongArgument
from openlaketx.notebook.arguments import check_frame, check_session

NAME = "silver.sales"


@pytest.mark.parametrize(
    ("name", "frame", "given", "call"),
    [
        (NAME, pd.DataFrame({"n": [1]}), "a DataFrame of pandas instead of a Spark DataFrame",
         'tx.publish("silver.sales", spark.createDataFrame(frame))'),
        (NAME, pa.table({"n": [1]}), "a Table of pyarrow",
         'tx.publish("silver.sales", spark.createDataFrame(frame))'),
        (NAME, [(1,)], "a list instead", 'tx.publish("silver.sales", spark.createDataFrame'),
        (NAME, None, "None instead", 'tx.publish("silver.sales", frame)'),
        (pd.DataFrame(), NAME, "its arguments in the wrong order", 'tx.publish("silver.sales", '),
        (7, object(), "a int instead of a name", 'tx.publish("silver.orders", frame)'),
    ],
)  # fmt: skip
def test_what_is_no_frame_of_spark(name: object, frame: object, given: str, call: str) -> None:
    with pytest.raises(WrongArgument) as reported:
        check_frame("tx.publish", name, frame)
    assert given in str(reported.value)
    assert reported.value.next_step.startswith(call)


@pytest.mark.parametrize(
    ("name", "spark", "name_first", "call"),
    [
        (object(), NAME, True, 'tx.it("silver.sales", spark)'),
        (object(), NAME, False, 'tx.it(spark, "silver.sales")'),
        (NAME, NAME, True, 'tx.it("silver.sales", spark)'),
        (NAME, pd.DataFrame(), True, 'tx.it("silver.sales", spark)'),
    ],
)
def test_what_is_no_session(name: object, spark: object, name_first: bool, call: str) -> None:
    with pytest.raises(WrongArgument) as reported:
        check_session("tx.it", name, spark, name_first=name_first)
    assert reported.value.next_step == call


def test_a_very_long_name_is_cut() -> None:
    with pytest.raises(WrongArgument) as reported:
        check_frame("tx.publish", "x" * 9_000, None)
    assert len(reported.value.next_step) < 300
