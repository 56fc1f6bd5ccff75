"""No secret in any text of any definition, however it came, and none is ever shown.

The texts are found by enumeration over the nouns' fields: a new field fails here until it is
covered.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from lakeguard.registry.kinds import KINDS, every, key_of
from lakeguard.registry.text.error_rendering import render_errors
from lakeguard.registry.validation.texts import texts_of
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import InvalidDefinitions
from lakeguard_sdk.model.definitions import Definition, Definitions
from lakeguard_sdk.security.secret_values import (
    address_holds_secret,
    holds_credential,
    holds_secret,
    is_reference,
    looks_secret,
    masked,
    without_credentials,
)
from tests.support.cases.every_definition_kind import EVERY_KIND, JOB, MORE_BUILDS
from tests.support.projects.definition_folders import (
    SHOP,
    load,
    mistakes,
    write_folder,
)
from tests.support.projects.registries import SmallRegistry, small_registry

SECRET = "ghp_" + "a1B2c3D4" * 5
FILES = {**SHOP, **EVERY_KIND, **MORE_BUILDS}
NAMES = frozenset(
    {"kind", "build", "source", "target", "job", "profile", "rule", "dataset", "renamed_from",
     "policy", "parents", "zone", "type", "relationship"}
)  # fmt: skip
"""Fields whose types hold no secret: closed sets, names of ours, and column types."""


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Definitions:
    return load(tmp_path_factory.mktemp("good"), FILES)


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallRegistry]:
    with small_registry(tmp_path_factory.mktemp("registry")) as made:
        yield made


def text_fields(noun: type[FrozenModel], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every field of a noun, and of the nouns in it, that can hold a text."""
    for name, field in noun.model_fields.items():
        kinds = _types(field.annotation)
        for kind in kinds:
            if isinstance(kind, type) and issubclass(kind, FrozenModel):
                yield from text_fields(kind, (*path, name))
        texts = [k for k in kinds if isinstance(k, type) and issubclass(k, str)]
        if texts and not all(issubclass(k, Enum) for k in texts):
            yield (*path, name)


def _types(annotation: Any) -> list[Any]:
    inner = getattr(annotation, "__args__", ())
    return [found for each in inner for found in _types(each)] if inner else [annotation]


FIELDS = [(kind, path) for kind in KINDS for path in text_fields(kind.noun)]


def with_secret(value: Any, path: tuple[str, ...]) -> Any:
    """The same value with the secret at ``path``; its first item where there are many."""
    if isinstance(value, tuple):
        return (with_secret(value[0], path) if value else SECRET, *value[1:])
    if isinstance(value, dict):
        return {**value, "note": SECRET}
    if not path:
        return SECRET
    inner = with_secret(getattr(value, path[0]), path[1:])
    return value.model_copy(update={path[0]: inner})


def holder(good: Definitions, field: str, path: tuple[str, ...]) -> Definition:
    """A definition of a kind that has something to hold the text at ``path``."""
    for item in getattr(good, field):
        value: Any = item
        for step in path[:-1]:
            value = getattr(value, step, None)
            value = value[0] if isinstance(value, tuple) and value else value
        if isinstance(value, FrozenModel) and path[-1] in type(value).model_fields:
            return item
    raise AssertionError(f"no example of {field} has {path}")


@pytest.mark.parametrize(
    ("kind", "path"), FIELDS, ids=[f"{kind.word}.{'.'.join(path)}" for kind, path in FIELDS]
)
def test_every_text_of_every_kind(
    registry: SmallRegistry, good: Definitions, kind: Any, path: tuple[str, ...]
) -> None:
    if path[-1] in NAMES and path != ("rules", "rule_type"):
        return
    item = holder(good, kind.field, path)
    forged = with_secret(item, path)
    assert SECRET in [text for _, text in texts_of(forged)], "the text is looked at"
    others = [each for each in getattr(good, kind.field) if key_of(each) != key_of(item)]
    given = good.model_copy(update={kind.field: (*others, forged)})
    with pytest.raises(InvalidDefinitions) as invalid:
        registry.plan(given)
    assert "LG-2021" in {error.code for error in invalid.value.errors}
    assert SECRET not in json.dumps(invalid.value.to_data())
    assert all(SECRET not in f"{error} {error!r}" for error in invalid.value.errors)


WRITTEN = [
    (file, line)
    for file, text in FILES.items()
    for line in str(text).splitlines()
    if ": " in line and not line.rstrip().endswith(("]", "}"))
]


@pytest.mark.parametrize(("file", "line"), WRITTEN, ids=lambda part: part.split("/")[-1][:40])
def test_every_line_of_every_file(
    file: str, line: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    key = line.partition(": ")[0]
    text = str(FILES[file]).replace(line, f"{key}: {SECRET}", 1)
    errors = mistakes(tmp_path, {**FILES, file: text})
    assert any(e.code == "LG-2021" and e.place.file == file for e in errors)
    shown = "\n".join(render_errors(errors, tmp_path)) + json.dumps([e.to_data() for e in errors])
    assert SECRET not in shown + caplog.text


def test_names_of_files_and_keys(tmp_path: Path) -> None:
    files = {
        **FILES,
        f"definitions/jobs/{SECRET}.yaml": JOB,
        "definitions/jobs/load_customers.yaml": JOB.replace("schedule", SECRET),
        "sql/orders.sql": f"select '{SECRET}' as x, order_id from bronze.orders\n",
    }
    errors = mistakes(tmp_path, files)
    assert [error.code for error in errors].count("LG-2021") >= 3
    assert SECRET not in json.dumps([error.to_data() for error in errors])


@pytest.mark.parametrize("field", ["details", "config"])
@pytest.mark.parametrize(
    ("key", "value", "fine"),
    [
        ("password", "hunter2", False),
        ("db_password", "", False),
        ("API-Key", "abc", False),
        ("secret#Rotation", "zzq9", False),
        ("password", "env:DB_PASSWORD", True),
        ("token", "file:/run/secrets/token", True),
        ("token", "secret://vault/crm#token", True),
        ("token", "env:not a name", False),
        ("note", "password=hunter2", False),
        ("note", "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY1", False),
        ("schedule", "0 2 * * *", True),
    ],
)
def test_a_sensitive_key_holds_a_reference(
    tmp_path: Path, field: str, key: str, value: str, fine: bool
) -> None:
    key = f"crm#{key}" if field == "config" else key  # any key, of another system
    text = f'job: load\n{field}: {{"{key}": "{value}"}}\n'
    folder = write_folder(tmp_path, {**SHOP, "definitions/jobs/load.yaml": text})
    errors = mistakes(folder, {})
    assert [error.code for error in errors] == ([] if fine else ["LG-2021"])
    if not fine and value:
        assert value not in json.dumps([error.to_data() for error in errors])


@pytest.mark.parametrize(
    "text",
    [
        "CustomerAddressLine2NormalizedValueV3Final",
        "a long description of ordersPlacedInTheYear2024 and its md5HashOfCustomerAddressLine2",
        "https://wiki.example/Display/DataTeam2024/OrdersOverviewPage",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "0f8fad5b-d9cd-469f-a165-70867728950e",
    ],
)
def test_what_people_write_is_no_secret(text: str) -> None:
    assert not holds_secret(text)


@pytest.mark.parametrize(
    "text",
    ["Zx8Kq2Lw9Vb4Nm7Tr1Yp5Hs3Gd6Jf0Ac", "k3J8sL2pQ9vX7bN4mR6tY1wZ5cH0gDfA"],
)
def test_what_only_chance_would_spell_is_one(text: str) -> None:
    assert holds_secret(f"see {text} there")
    assert looks_secret(text)


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("https://stats.example/PREZIP/On_Time_Carrier_Performance_1987_present_2013_1.zip", False),
        ("https://data.example/Exports/2024/Q1/CustomerOrdersNormalizedV3.csv", False),
        ("https://b.s3.eu-central-1.example/Landing/Orders2024/part-00000.parquet", False),
        ("https://data.example/x.csv?token={token}&type=full", False),
        ("https://data.example/x.csv?token=abc", True),
        ("https://me:hunter2@data.example/x.csv", True),
        ("https://data.example/x.csv?k=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY1", True),
        ("https://data.example/a1B2c3D4e5F6g7H8i9J0/x.csv", True),
        ("jdbc:postgresql://db.example/shop?user=me&password=hunter2", True),
    ],
)
def test_secrets_of_addresses(url: str, secret: bool) -> None:
    assert address_holds_secret(url) is secret


def test_the_folder_of_a_run_is_shown_and_secrets_in_a_path_are_not() -> None:
    place = f"/srv/Anna1/lakes/Sales2/zones/silver/people/runs/{new_id('run')}"
    assert masked(f"{place} holds files") == f"{place} holds files"
    word = "q9Zk3Xw7Lm2Tb8Vd5Rf1Nc6Jh4"
    for text in (word, f"/srv/{word}/x", f"{word}/{word}", f"/{word}", f"/srv/x/{SECRET}"):
        assert word not in masked(text)
        assert SECRET not in masked(text)


@pytest.mark.parametrize("end", ["\n", "\\n", "\r\n", "\\r\\n"], ids=repr)
def test_a_private_key_is_masked_whole(end: str) -> None:
    """Also in JSON, where ends of lines are escaped, and if it is encrypted."""
    for head in ("", f"Proc-Type: 4,ENCRYPTED{end}DEK-Info: AES-128-CBC,F0AB{end}{end}"):
        lines = ("-----BEGIN RSA PRIVATE KEY-----", f"{head}MIIEpA+/c2VjcmV0", "Zm9v+/==")
        key = end.join((*lines, "-----END RSA PRIVATE KEY-----", ""))
        assert (
            without_credentials(f'{{"a": "x {key}", "b": "y"}}') == '{"a": "x ********", "b": "y"}'
        )


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE", "ghp_" + "a1" * 20, "ghs_" + "a1" * 20,
        "github_pat_11" + "a1" * 20, "glpat-" + "a1" * 12, "xoxb-1234567890-abc", "sk-" + "a1" * 12,
        "sk_live_" + "a1" * 10, "rk_live_" + "a1" * 10, "dapi" + "0a" * 16, "AIza" + "x" * 35,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0", "lgt1_" + "a1" * 12,
        "lgs1_" + "a.1" * 9,
        "-----BEGIN PRIVATE KEY-----", "-----BEGIN EC PRIVATE KEY-----", "jdbc:x://me:hunter2@db/x",
        "s3://:hunter2@x",
    ],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_every_known_format_is_found_and_masked(text: str) -> None:
    for around in (text, f"see {text} there", f'"{text}"', f"a,{text}\nb"):
        assert holds_credential(around)
        assert text not in without_credentials(around)


@pytest.mark.parametrize("part", ["eyJ-", "://a:", "-----BEGIN A", "a.b-", "password "])
def test_a_long_text_is_searched_once(part: str) -> None:
    """Not once more for each place where a credential may begin: that would not end."""
    text = part * 100_000
    for ended in (text, f"{text}.a"):
        assert not holds_secret(ended)
        assert without_credentials(ended) == ended
    assert holds_secret(f"{text} x-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0")


def test_references() -> None:
    assert is_reference("env:A_B1")
    assert not any(map(is_reference, ["env:", "file:", "secret://", "secret:/x", "xenv:A", ""]))
    assert list(every(Definitions())) == []
