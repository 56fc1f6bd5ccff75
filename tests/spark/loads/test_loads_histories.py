"""Random histories: every load against its model, step by step."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import LoadType
from tests.support.cases.load_variants import STEPS, VARIANTS
from tests.support.examples import is_quick
from tests.support.lakes.load_histories import make_history
from tests.support.strategies.costly_examples import by_chance

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("load_type", list(LoadType))
@by_chance
def test_a_table_is_what_its_history_makes_it(
    spark: SparkSession, load_type: LoadType, chance: Random
) -> None:
    load = chance.choice(list(VARIANTS[load_type].values()))
    quick = is_quick()
    steps = ("batch", *chance.sample(STEPS, 1 if quick else 5))
    with TemporaryDirectory(prefix="history-") as folder:
        make_history(Path(folder) / "project", load, chance, steps, spark, every_step=not quick)
