"""The file that a build names: inside the project, readable, and read once."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from lakeguard.registry.characters import place_of_offset
from lakeguard.registry.fields import Fields
from lakeguard.registry.nodes import Scalar
from lakeguard.registry.sql_lexing import MAX_CHARACTERS
from lakeguard_sdk.definition import FromSql
from lakeguard_sdk.definition_errors import BadSql, Place, SecretValue, UnknownReference
from lakeguard_sdk.secret_values import holds_secret
from lakeguard_sdk.spelling import did_you_mean


class SqlFiles:
    """Reads SQL below one root. A path that leaves it, by ``..`` or by a link, is refused."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def read(self, build: Fields) -> FromSql | None:
        scalar = build.scalar("sql", required=True)
        if scalar is None:
            return None
        problem = _path_problem(scalar.value)
        if problem is None:
            target = (self._root / scalar.value).resolve()
            if target.is_relative_to(self._root):
                return self._text(build, scalar, target)
            problem = "leads out of the project by a link"
        build.wrong(scalar, "sql", problem)
        return None

    def bytes_of(self, file: str) -> bytes | None:
        """What is in a file that a definition names now, None if it may not or cannot be read."""
        if _path_problem(file) is not None:
            return None
        target = (self._root / file).resolve()
        if not target.is_relative_to(self._root) or not target.is_file():
            return None
        return target.read_bytes()

    def _text(self, build: Fields, scalar: Scalar, target: Path) -> FromSql | None:
        file = str(PurePosixPath(scalar.value))
        if not target.is_file():
            place = build.document.place(scalar)
            hint = did_you_mean(file, self._neighbours(target.parent))
            build.add(UnknownReference(place, kind="file", name=file, hint=hint))
            return None
        data = target.read_bytes()
        if len(data) > 4 * MAX_CHARACTERS:
            problem = f"longer than {MAX_CHARACTERS:,} characters"
            build.add(BadSql(Place(file=file), problem=problem, hint=""))
            return None
        try:
            text = data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            before = data[: error.start].decode("utf-8-sig", "replace")
            line, column = place_of_offset(before + "?", len(before))
            place = Place(file=file, line=line, column=column)
            build.add(BadSql(place, problem="not UTF-8 text", hint=""))
            return None
        if holds_secret(text):
            build.add(SecretValue(Place(file=file), key=file))
            return None
        return FromSql(file=file, text=text)

    def _neighbours(self, folder: Path) -> list[str]:
        if not folder.is_dir() or not folder.is_relative_to(self._root):
            return []
        names = sorted(entry.name for entry in folder.iterdir() if entry.suffix == ".sql")
        return [str((folder / name).relative_to(self._root)) for name in names]


def _path_problem(text: str) -> str | None:
    path = PurePosixPath(text)
    if not text or not text.isprintable() or "\\" in text or len(text) > 1000:
        return "write a path such as sql/orders.sql"
    if path.is_absolute() or ".." in path.parts or ":" in path.parts[0:1]:
        return "write a path inside the project, such as sql/orders.sql"
    if path.suffix != ".sql":
        return "write the path of a .sql file"
    return None
