"""The file that ``build.sql`` names: readable text, without a secret."""

from __future__ import annotations

from pathlib import PurePosixPath

from lakeguard.registry.fields import Fields
from lakeguard.registry.project_files import ProjectFiles, undecodable
from lakeguard.registry.sql_lexing import MAX_CHARACTERS
from lakeguard_sdk.definition import FromSql
from lakeguard_sdk.errors import BadSql, Place, SecretValue
from lakeguard_sdk.secret_values import holds_secret


def read_sql_build(files: ProjectFiles, build: Fields) -> FromSql | None:
    """The SELECT of a build, or None with the mistake among the findings."""
    scalar = build.scalar("sql", required=True)
    if scalar is None:
        return None
    data = files.read(build, "sql", scalar, scalar.value)
    if data is None:
        return None
    file = str(PurePosixPath(scalar.value))
    if len(data) > 4 * MAX_CHARACTERS:
        problem = f"longer than {MAX_CHARACTERS:,} characters"
        build.add(BadSql(Place(file=file), problem=problem, hint=""))
        return None
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        place = undecodable(file, data, error)
        build.add(BadSql(place, problem="not UTF-8 text", hint=""))
        return None
    if holds_secret(text):
        build.add(SecretValue(Place(file=file), key=file))
        return None
    return FromSql(file=file, text=text)
