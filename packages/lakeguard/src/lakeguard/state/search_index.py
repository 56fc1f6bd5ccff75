"""The full-text index over ``dataset_search``: FTS5 on SQLite, a ``tsvector`` on PostgreSQL.

Words are split before they are stored, so that both databases find the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, cast, column, func, literal, literal_column, select, table
from sqlalchemy import text as sql_text

from lakeguard.state.tables.search import dataset_search

_INDEX = "dataset_search_index"
_WORD = re.compile(r"[^\W_]+")
_LONGEST = 100
"""Maximum characters of a word; PostgreSQL has a limit."""


def folded(text: str) -> str:
    """Equal for texts that differ only in case, spaces or Unicode normalisation. The databases fold
    letters beyond ASCII differently."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", plain).replace("\0", " ").split())


def words_of(text: str) -> list[str]:
    """Runs of letters and digits, folded."""
    return [word[:_LONGEST] for word in _WORD.findall(folded(text))]


def filter_line(kind: str, value: str) -> str:
    """A value that is matched as a whole: between line breaks, which no folded text contains."""
    return f"\n{kind}:{folded(value)}\n"


def joined_words(texts: Iterable[str]) -> str:
    """Each word once, in order."""
    return " ".join(dict.fromkeys(word for text in texts for word in words_of(text)))


def index_statements(dialect: str) -> Sequence[str]:
    """DDL of the index and of what keeps it up to date."""
    if dialect == "postgresql":
        return (
            "ALTER TABLE dataset_search ADD COLUMN lexemes tsvector GENERATED ALWAYS AS"
            " (array_to_tsvector(string_to_array(words, ' '))) STORED",
            "CREATE INDEX ix_dataset_search_lexemes ON dataset_search USING gin (lexemes)",
        )
    new = f"INSERT INTO {_INDEX} (rowid, words) VALUES (new.number, new.words);"  # noqa: S608
    old = (
        f"INSERT INTO {_INDEX} ({_INDEX}, rowid, words)"  # noqa: S608
        " VALUES ('delete', old.number, old.words);"
    )
    trigger = "CREATE TRIGGER dataset_search_words_{0} AFTER {0} ON dataset_search BEGIN {1} END"
    return (
        f"CREATE VIRTUAL TABLE {_INDEX} USING fts5(words, content='dataset_search',"
        " content_rowid='number', tokenize='ascii', prefix='1 2 3')",
        trigger.format("INSERT", new),
        trigger.format("UPDATE", f"{old} {new}"),
        trigger.format("DELETE", old),
    )


def contains(dialect: str, column: ColumnElement[str], part: str) -> ColumnElement[bool]:
    """Whether the text contains this part exactly; without the limits of LIKE patterns."""
    place = func.strpos if dialect == "postgresql" else func.instr
    return place(column, part) > 0


def by_code(dialect: str, column: ColumnElement[str]) -> ColumnElement[str]:
    """For an order independent of the collation of the database."""
    return column.collate("C") if dialect == "postgresql" else column


def has_words(dialect: str, words: Sequence[str]) -> ColumnElement[bool]:
    """Rows with a word that begins with each of these words from ``words_of``."""
    if dialect == "postgresql":
        query = " & ".join(f"'{word}':*" for word in words)
        lexemes: ColumnElement[str] = literal_column("dataset_search.lexemes")
        return lexemes.bool_op("@@")(_as_query(query))
    query = " AND ".join(f'"{word}" *' for word in words)
    index = table(_INDEX, column("rowid"))
    found = select(index.c.rowid).where(sql_text(f"{_INDEX} MATCH :words").bindparams(words=query))
    return dataset_search.c.number.in_(found)


def _as_query(query: str) -> ColumnElement[str]:
    """A cast, because ``to_tsquery`` would normalise the words."""
    from sqlalchemy.dialects.postgresql import TSQUERY  # loads its drivers

    return cast(literal(query), TSQUERY)
