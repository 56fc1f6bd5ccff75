"""A run can read what the source inspection proposes, verified with the casts themselves."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from openlaketx.conform.casts import is_sound
from openlaketx.engine.spark.session import run_session
from tests.support.strategies.value_spellings import looked_types

pytestmark = pytest.mark.spark


def test_every_text_is_sound_in_the_type_that_is_proposed_for_it(spark: SparkSession) -> None:
    by_type: dict[str, list[str]] = {}
    for text, data_type in looked_types().items():
        by_type.setdefault(data_type, []).append(text)
    session = run_session(spark)
    for data_type, texts in by_type.items():
        if data_type == "string":
            continue
        frame = session.createDataFrame([(text,) for text in texts], "text string")
        unsound = frame.where(~is_sound(frame["text"], data_type)).collect()
        assert [row.text for row in unsound] == [], data_type
