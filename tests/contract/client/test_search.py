"""Datasets are found by what their definitions say, at once and in the order of a reader."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from lakeguard.plane import rebuild_embedded
from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Layer, LoadType, SourceFormat
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    SourceDefinition,
)
from lakeguard_sdk.model.read_models import FoundDataset, MatchedField
from tests.support.projects.planes import numbers_definitions
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")


def dataset(name: str, *columns: str, **fields: str) -> DatasetDefinition:
    given = {"owner": "ops", "domain": "aviation", "description": "", **fields}
    return DatasetDefinition(
        dataset=DatasetName(name),
        build=FromSource(source="feed"),
        load=numbers_definitions(LoadType.APPEND).datasets[0].load,
        columns=tuple(
            ColumnDefinition(name=column, type="long", tags=("pii",) if column == "tail" else ())
            for column in columns or ("n",)
        ),
        **given,
    )


FLIGHTS = dataset("bronze.flights", "tail", "delay", description="Scheduled departures")
LEGS = dataset("bronze.flight_legs", owner="Flights-Team")
PLANES = dataset("bronze.planes", "tail", "flights_flown", domain="fleet")
WEATHER = dataset("bronze.weather", description="Hourly, for flights; 100% of stations' rows")
ALL = (WEATHER, PLANES, LEGS, FLIGHTS)


@pytest.fixture
def client(tmp_path: Path) -> Client:
    feed = SourceDefinition(source="feed", format=SourceFormat.CSV, path="feed/*.csv")
    return make_project(tmp_path, Definitions(sources=(feed,), datasets=ALL))


def names(found: Sequence[FoundDataset]) -> list[str]:
    return [row.dataset.name for row in found]


def test_the_exact_name_comes_first_and_names_before_others(client: Client) -> None:
    assert names(client.reader.search("flights")) == ["flights", "flight_legs", "planes", "weather"]
    assert names(client.reader.search("bronze.flights"))[0] == "flights"
    assert names(client.reader.search("flight")) == ["flight_legs", "flights", "planes", "weather"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FLIGHTS planes", ["planes"]),
        ("departures", ["flights"]),
        ("flights_flown", ["planes"]),
        ("flown flights", ["planes"]),
        ("team", ["flight_legs"]),
        ("fleet", ["planes"]),
        ("pii", ["flights", "planes"]),
        ("sched", ["flights"]),
        ("100", ["weather"]),
        ("nothing", []),
        ("!?", []),
        ("", ["flight_legs", "flights", "planes", "weather"]),
    ],
)
def test_every_word_must_begin_a_word(text: str, expected: list[str], client: Client) -> None:
    assert names(client.reader.search(text)) == expected


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"owner": "flights-team"}, ["flight_legs"]),
        ({"domain": "Fleet"}, ["planes"]),
        ({"tag": "pii"}, ["flights", "planes"]),
        ({"tag": "pi"}, []),
        ({"column": "tail", "domain": "aviation"}, ["flights"]),
        ({"column": "ta%"}, []),
        ({"column": "flights_flown"}, ["planes"]),
        ({"column": "flightsxflown"}, []),
        ({"layer": Layer.GOLD}, []),
        ({"layer": Layer.BRONZE, "limit": 2}, ["flight_legs", "flights"]),
        ({"limit": 0}, []),
    ],
)
def test_a_search_is_narrowed(
    wanted: dict[str, object], expected: list[str], client: Client
) -> None:
    assert names(client.reader.search(**wanted)) == expected  # type: ignore[arg-type]


HANDED = dataset("bronze.handover", owner="Übergabe", domain="Straße", description="İstanbul, ΑΐΔ")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ÜBERGABE", {}),
        ("u\u0308bergabe", {}),
        ("strasse", {}),
        ("STRASSE", {"owner": "ÜBERGABE", "domain": "strasse"}),
        ("", {"owner": "u\u0308bergabe"}),
        ("αΐδ", {}),
        ("İSTANBUL", {}),
    ],
)
def test_letters_beyond_ascii_have_no_case_either(
    text: str, wanted: dict[str, str], client: Client
) -> None:
    client.registry.apply(client.registry.plan(Definitions(datasets=(HANDED,))))
    assert names(client.reader.search(text, **wanted)) == ["handover"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    ["%", "_", "ops\ndomain:fleet", pytest.param("x" * 60_000, id="long"), "ops%"],
)
def test_a_filter_is_a_whole_value(value: str, client: Client) -> None:
    for name in ("owner", "domain", "tag", "column"):
        assert names(client.reader.search(**{name: value})) == []  # type: ignore[arg-type]


def test_a_column_that_was_asked_for_is_shown_as_it_is_written(client: Client) -> None:
    (found,) = client.reader.search(column="FLIGHTS_FLOWN")
    assert [(match.field, match.value) for match in found.matched] == [
        (MatchedField.COLUMN, "flights_flown")
    ]


def test_what_matched_is_shown(client: Client) -> None:
    (found,) = client.reader.search("flights fleet", column="tail")
    assert [(match.field, match.value) for match in found.matched] == [
        (MatchedField.COLUMN, "flights_flown"),
        (MatchedField.DOMAIN, "fleet"),
        (MatchedField.COLUMN, "tail"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '"',
        "' OR 1=1 --",
        "words:flights",
        "NEAR(flights planes)",
        "flights AND NOT planes",
        "& | ! <->",
        "a" * 5_000,
        "x " * 5_000,
        "\0",
        "%",
        "\\",
    ],
)
def test_nobody_writes_a_query(text: str, client: Client) -> None:
    """Signs separate words, and operators are words like others."""
    assert names(client.reader.search(text)) == []


@pytest.mark.parametrize("text", ["flights:*", "flights*", "^flights", '"flights"', "(flights)"])
def test_signs_around_a_word_mean_nothing(text: str, client: Client) -> None:
    assert names(client.reader.search(text)) == names(client.reader.search("flights"))


def test_a_search_follows_each_apply(client: Client) -> None:
    client.registry.apply(client.registry.plan(Definitions(datasets=(dataset("bronze.planes"),))))
    assert names(client.reader.search("flown")) == []
    assert names(client.reader.search("planes")) == ["planes"]
    renamed = dataset("bronze.aircraft").model_copy(
        update={"renamed_from": DatasetName("bronze.planes")}
    )
    client.registry.apply(client.registry.plan(Definitions(datasets=(renamed,))))
    assert names(client.reader.search("planes")) == []
    assert names(client.reader.search("aircraft")) == ["aircraft"]


def test_a_rebuilt_database_finds_the_same(client: Client, tmp_path: Path) -> None:
    before = client.reader.search("flights")
    client.close()
    rebuild_embedded(tmp_path, env=None, replace=True, progress=lambda _: None)
    assert connect(tmp_path).reader.search("flights") == before
