"""A project function builds a dataset, with its own modules and nothing of ours."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakeguard.registry.load_folder import load_folder
from lakeguard_sdk import DatasetName, connect
from lakeguard_sdk.errors import BuildFailed, NoteRefused, NotInRun
from lakeguard_sdk.model.run import InputPin, PythonBuild
from openlaketx import Connection, run
from openlaketx.engine.spark.errors import SPARK_ERRORS
from openlaketx.engine.spark.run_settings import RUN_SETTINGS
from openlaketx.extract import Batch
from openlaketx.extract.python_build import read_python
from openlaketx.worker import create_worker
from tests.spark.sources.test_sql_build import pin, two_versions
from tests.support.lakes.plans import schema
from tests.unit.openlaketx.governed import Governed

pytestmark = pytest.mark.spark


@pytest.fixture
def table(tmp_path: Path) -> Governed:
    return two_versions(tmp_path / "lake")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "jobs").mkdir(parents=True)
    return folder


def write(project: Path, text: str, file: str = "jobs/clean.py") -> PythonBuild:
    content = dedent(text).lstrip()
    place = project / file
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content)
    digest = hashlib.sha256(content.encode()).hexdigest()
    return PythonBuild(file=file, function="build", sha256=digest, inputs={})


def build(session: SparkSession, project: Path, code: PythonBuild, *pins: InputPin) -> Batch | None:
    inputs = {str(each.input.dataset): each for each in pins}
    code = code.model_copy(update={"inputs": inputs})
    return read_python(session, code, "gold.t", str(project))


def rows(batch: Batch | None) -> list[Any]:
    assert batch is not None
    return sorted(tuple(row) for row in batch.frame.collect())


def failure(session: SparkSession, project: Path, code: PythonBuild, *pins: InputPin) -> str:
    with pytest.raises(BuildFailed) as reported:
        build(session, project, code, *pins)
    message = str(reported.value)
    assert "\n" not in message
    assert "openlaketx" not in message
    return message.removeprefix("gold.t could not be built: ")


def test_a_function_reads_pinned_inputs_and_the_batch_knows_them(
    session: SparkSession, project: Path, table: Governed
) -> None:
    code = write(
        project,
        """
        def build(spark, inputs):
            numbers = inputs["silver.numbers"]
            return numbers.where("n < 3").selectExpr("n", "upper(s) AS big")
        """,
    )
    batch = build(session, project, code, pin(table, 2))
    assert batch is not None
    assert batch.live == schema(n="long", big="string")
    assert [item.version for item in batch.inputs] == [2]
    assert rows(batch) == [(1, "1"), (2, "2")]
    assert rows(build(session, project, code, pin(table, 2, since=1))) == []
    assert build(session, project, code, pin(table, 2, since=2)) is None


def test_neighbours_and_functions_on_workers(
    session: SparkSession, project: Path, table: Governed
) -> None:
    write(project, "FACTOR = 10\n\ndef scaled(n):\n    return n * FACTOR\n", "jobs/scales.py")
    write(project, "", "shop/__init__.py")
    write(project, "from dataclasses import dataclass\n\nRATE = 2\n", "shop/rates.py")
    code = write(
        project,
        """
        from __future__ import annotations
        from dataclasses import dataclass
        from pyspark.sql.functions import udf
        import scales
        from shop.rates import RATE

        @dataclass
        class Adder:
            much: int

            def __call__(self, n: int) -> int:
                return scales.scaled(n) * RATE + self.much

        def build(spark, inputs):
            from scales import scaled

            adder = Adder(1)
            add, scale = udf(lambda n: adder(n), "long"), udf(lambda n: scaled(n) + more(n), "long")
            return inputs["silver.numbers"].select(add("n").alias("a"), scale("n").alias("b"))

        def more(n):
            return 1000
        """,
    )
    assert rows(build(session, project, code, pin(table, 1))) == [(21, 1010), (41, 1020)]
    assert not {"scales", "shop", "shop.rates", "lakeguard_build"} & set(sys.modules)
    write(project, "FACTOR = 20\n\ndef scaled(n):\n    return n * FACTOR\n", "jobs/scales.py")
    assert rows(build(session, project, code, pin(table, 1))) == [(41, 1020), (81, 1040)]
    assert not list(project.rglob("*.pyc"))


def test_only_the_bytes_that_were_applied_are_run(session: SparkSession, project: Path) -> None:
    code = write(project, "def build(spark, inputs):\n    return spark.range(1)\n")
    (project / code.file).write_text("raise SystemExit('never run')\n")
    assert failure(session, project, code) == "jobs/clean.py changed since it was applied"
    (project / code.file).unlink()
    assert "jobs/clean.py cannot be read: No such file" in failure(session, project, code)
    outside = code.model_copy(update={"file": "../elsewhere.py"})
    assert "is not in the project" in failure(session, project, outside)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\n", "jobs/clean.py has no function build"),
        ("def build(:\n", "jobs/clean.py, line 1: SyntaxError: invalid syntax"),
        ("import nowhere_at_all\n", "jobs/clean.py, line 1: ModuleNotFoundError: No module named"),
        ("def build(spark, inputs):\n    return 7\n", "build of jobs/clean.py returned a int"),
        (
            "def build(spark, inputs):\n    return spark.newSession().range(1)\n",
            "build of jobs/clean.py returned a frame of another session",
        ),
        (
            "def build(spark, inputs):\n    return inputs['silver.nothing']\n",
            "jobs/clean.py, line 2, in build: KeyError: 'silver.nothing'",
        ),
        (
            "def build(spark, inputs):\n    return inner(spark)\n\n"
            "def inner(spark):\n    return spark.range(1).select('nope')\n",
            "jobs/clean.py, line 5, in inner: A column",
        ),
        (
            "def build(spark, inputs):\n    raise SystemExit(3)\n",
            "jobs/clean.py, line 2, in build: SystemExit: 3",
        ),
        (
            "def build(spark, inputs):\n    raise ValueError('one\\ntwo')\n",
            "jobs/clean.py, line 2, in build: ValueError: one",
        ),
        (
            "def build(spark, inputs):\n    return spark.sql('SELECT interval 1 day AS many')\n",
            "column many is interval",
        ),
    ],
)
def test_a_failure_names_file_line_and_function(
    session: SparkSession, project: Path, text: str, expected: str
) -> None:
    assert failure(session, project, write(project, text)).startswith(expected)


def test_a_failure_in_a_neighbour_names_the_neighbour(session: SparkSession, project: Path) -> None:
    write(project, "def boom():\n    raise RuntimeError('no')\n", "jobs/parts.py")
    code = write(project, "import parts\n\ndef build(spark, inputs):\n    parts.boom()\n")
    assert failure(session, project, code) == "jobs/parts.py, line 2, in boom: RuntimeError: no"


def test_a_failure_on_a_worker_names_the_line(session: SparkSession, project: Path) -> None:
    code = write(
        project,
        """
        from pyspark.sql.functions import udf

        def check(n):
            if n == 2:
                raise ValueError(f"bad number {n}")
            return n

        def build(spark, inputs):
            return spark.range(4).select(udf(check, "long")("id").alias("n"))
        """,
    )
    batch = build(session, project, code)
    assert batch is not None
    with pytest.raises(SPARK_ERRORS) as raised:
        batch.frame.collect()
    reported = batch.explain(raised.value)
    assert str(reported) == (
        "gold.t could not be built: jobs/clean.py, line 5, in check: ValueError: bad number 2"
    )


def test_workers_are_of_the_same_python_as_the_run(session: SparkSession, project: Path) -> None:
    code = write(
        project,
        """
        import sys
        from pyspark.sql.functions import udf

        def build(spark, inputs):
            return spark.range(1).select(udf(lambda n: sys.prefix, "string")("id").alias("where"))
        """,
    )
    assert rows(build(session, project, code)) == [(sys.prefix,)]


def test_a_failure_on_a_worker_before_the_first_line_tells_what_was_raised(
    session: SparkSession, project: Path
) -> None:
    code = write(
        project,
        """
        from pyspark.sql.functions import udf

        class Gone:
            def __reduce__(self):
                return (__import__, ("no_module_of_this_name",))

        gone = Gone()

        def build(spark, inputs):
            return spark.range(1).select(udf(lambda n: str(gone), "string")("id").alias("n"))
        """,
    )
    batch = build(session, project, code)
    assert batch is not None
    with pytest.raises(SPARK_ERRORS) as raised:
        batch.frame.collect()
    assert str(batch.explain(raised.value)) == (
        "gold.t could not be built: build of jobs/clean.py:"
        " ModuleNotFoundError: No module named 'no_module_of_this_name'"
    )


def test_what_a_build_does_to_its_session_is_undone(
    spark: SparkSession, session: SparkSession, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = write(
        project,
        """
        def build(spark, inputs):
            print("talking")
            spark.conf.set("spark.sql.parquet.outputTimestampType", "INT96")
            spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
            spark.range(3).createOrReplaceTempView("kept")
            return spark.table("kept")
        """,
    )
    assert rows(build(session, project, code)) == [(0,), (1,), (2,)]
    assert {key: session.conf.get(key) for key in RUN_SETTINGS} == RUN_SETTINGS
    assert not session.catalog.tableExists("kept")
    assert not spark.catalog.tableExists("kept")
    assert capfd.readouterr() == ("", "talking\n")


def test_notes_are_merged_key_by_key(session: SparkSession, project: Path) -> None:
    code = write(
        project,
        """
        from openlaketx import run

        def build(spark, inputs):
            run.note({"a": 1, "b": {"c": [1, 2]}})
            run.note({"a": 2})
            return spark.range(1)
        """,
    )
    with run.collecting_notes():
        build(session, project, code)
        assert run.collected_notes() == {"a": 2, "b": {"c": [1, 2]}}
        with pytest.raises(NoteRefused, match="65,536"):
            run.note({"d": "x" * 65_530})
        assert run.collected_notes() == {"a": 2, "b": {"c": [1, 2]}}
    assert run.collected_notes() == {}
    with pytest.raises(NotInRun):
        run.note({"a": 1})
    assert "run.note was called outside a run" in str(NotInRun())


def test_a_definition_file_names_the_function_that_runs(spark: SparkSession, project: Path) -> None:
    head = "owner: tests\ndomain: tests\nload: {type: FULL}\ncolumns: {id: {type: long}}\n"
    write(project, "[env.dev]\n", "lakeguard.toml")
    raw = f"dataset: bronze.raw\nbuild: frame\n{head}"
    write(project, raw, "definitions/bronze/raw.yaml")
    made = "dataset: silver.made\nparents: [bronze.raw]\nbuild: {python: jobs/clean.py:build}\n"
    write(project, made + head, "definitions/silver/made.yaml")
    write(
        project,
        """
        from openlaketx import run

        def build(spark, inputs):
            run.note({"of": list(inputs)})
            return inputs["bronze.raw"].where("id > 0")
        """,
    )
    client = connect(project)
    client.registry.apply(client.registry.plan(load_folder(project)))
    Connection(client).publish("bronze.raw", spark.range(3)).raise_if_blocked()
    name = DatasetName("silver.made")
    worker = create_worker(client.for_worker(), spark_options={})
    result = worker.run_task(client.operations.submit(name, "tests"))
    assert (result.error, result.version, result.rows) == (None, 1, 2)
    assert client.reader.versions(name)[0].notes == {"of": ["bronze.raw"]}
