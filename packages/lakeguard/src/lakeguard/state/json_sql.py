"""SQL fragments that read JSON columns, per dialect."""

from __future__ import annotations


class JsonSql:
    """Fragments over a text column that holds canonical JSON, or NULL.

    NUL, which PostgreSQL text cannot hold, reads as U+FFFD.
    """

    def __init__(self, dialect: str) -> None:
        self._postgres = dialect == "postgresql"

    def text(self, column: str, *path: str) -> str:
        """The value at ``path`` as text; NULL where there is none."""
        if self._postgres:
            return f"({self._document(column)} #>> '{{{','.join(path)}}}')"
        return f"CAST({self._value(column, path)} AS TEXT)"

    def number(self, column: str, *path: str) -> str:
        if self._postgres:
            return f"({self.text(column, *path)})::bigint"
        return f"CAST({self._value(column, path)} AS INTEGER)"  # strings from 2**53 on

    def members(self, column: str, key: str, alias: str) -> str:
        """The members of the object under ``key`` as rows (key, value) of texts."""
        if self._postgres:
            return f"json_each_text({self._document(column)} -> '{key}') AS {alias}(key, value)"
        return f"json_each({self._document(column)}, '$.{key}') AS {alias}"

    def member_values(self, column: str, key: str) -> str:
        """A sub-query: the values of the object under ``key``, ordered by name and separated by
        commas; NULL if there is none."""
        members = self.members(column, key, "d")
        if self._postgres:
            return f"(SELECT string_agg(d.value, ', ' ORDER BY d.key) FROM {members})"
        ordered = f"(SELECT d.value FROM {members} ORDER BY d.key)"
        return f"(SELECT group_concat(value, ', ') FROM {ordered})"

    def items(self, column: str, key: str, alias: str) -> str:
        """The items of the array under ``key`` as rows (value, position from 1)."""
        if self._postgres:
            return (
                f"json_array_elements({self._document(column)} -> '{key}')"
                f" WITH ORDINALITY AS {alias}(value, position)"
            )
        return f"json_each({self._document(column)}, '$.{key}') AS {alias}"

    def position(self, alias: str) -> str:
        return f"{alias}.position" if self._postgres else f"{alias}.key + 1"

    def item_text(self, alias: str, key: str) -> str:
        if self._postgres:
            return f"({alias}.value ->> '{key}')"
        return f"CAST(json_extract({alias}.value, '$.{key}') AS TEXT)"

    def text_before(self, text: str, mark: str) -> str:
        """The part of a text before the first ``mark``; the mark must occur."""
        if self._postgres:
            return f"split_part({text}, '{mark}', 1)"
        return f"substr({text}, 1, instr({text}, '{mark}') - 1)"

    def item_number(self, alias: str, key: str) -> str:
        if self._postgres:
            return f"({alias}.value ->> '{key}')::bigint"
        return f"CAST(json_extract({alias}.value, '$.{key}') AS INTEGER)"

    def item_flag(self, alias: str, key: str) -> str:
        if self._postgres:
            return f"({alias}.value ->> '{key}')::boolean"
        return f"json_extract({alias}.value, '$.{key}')"

    def array_of(self, value: str, source: str, order: str) -> str:
        """A sub-query: the JSON array of the texts ``value`` of ``source``, in order."""
        if self._postgres:
            inner = f"string_agg(to_json({value})::text, ',' ORDER BY {order})"
            return f"(SELECT '[' || coalesce({inner}, '') || ']' FROM {source})"
        inner = "group_concat(json_quote(item), ',')"
        ordered = f"(SELECT {value} AS item FROM {source} ORDER BY {order})"
        return f"(SELECT '[' || coalesce({inner}, '') || ']' FROM {ordered})"

    def _value(self, column: str, path: tuple[str, ...]) -> str:
        return f"json_extract({self._document(column)}, '$.{'.'.join(path)}')"

    def _document(self, column: str) -> str:
        """Escaped backslashes are protected first: after one, ``u0000`` is plain text."""
        # canonical JSON never contains this character unescaped
        marker = "chr(1)" if self._postgres else "char(1)"
        apart = f"replace({column}, '\\\\', {marker})"
        readable = f"replace(replace({apart}, '\\u0000', '\\ufffd'), {marker}, '\\\\')"
        find, cast = ("strpos", "::json") if self._postgres else ("instr", "")
        found = f"{find}({column}, '\\u0000')"
        return f"(CASE {found} WHEN 0 THEN {column} ELSE {readable} END){cast}"
