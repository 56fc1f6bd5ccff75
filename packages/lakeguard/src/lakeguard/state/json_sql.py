"""Reading JSON columns in SQL, in the words of each database."""

from __future__ import annotations


class JsonSql:
    """Fragments over a text column that holds JSON."""

    def __init__(self, dialect: str) -> None:
        self._postgres = dialect == "postgresql"

    def text(self, column: str, *path: str) -> str:
        """The value at ``path`` as text; NULL where there is none."""
        if self._postgres:
            return f"({column}::json #>> '{{{','.join(path)}}}')"
        return f"CAST(json_extract({column}, '$.{'.'.join(path)}') AS TEXT)"

    def number(self, column: str, *path: str) -> str:
        if self._postgres:
            return f"({self.text(column, *path)})::bigint"
        return f"json_extract({column}, '$.{'.'.join(path)}')"

    def flag(self, column: str, *path: str) -> str:
        if self._postgres:
            return f"({self.text(column, *path)})::boolean"
        return f"json_extract({column}, '$.{'.'.join(path)}')"

    def members(self, column: str, key: str, alias: str) -> str:
        """The members of the object under ``key`` as rows (key, value) of texts."""
        if self._postgres:
            return f"json_each_text({column}::json -> '{key}') AS {alias}(key, value)"
        return f"json_each({column}, '$.{key}') AS {alias}"

    def items(self, column: str, key: str, alias: str) -> str:
        """The items of the array under ``key`` as rows (value, position from 1)."""
        if self._postgres:
            return (
                f"json_array_elements({column}::json -> '{key}')"
                f" WITH ORDINALITY AS {alias}(value, position)"
            )
        return f"json_each({column}, '$.{key}') AS {alias}"

    def position(self, alias: str) -> str:
        return f"{alias}.position" if self._postgres else f"{alias}.key + 1"

    def item_text(self, alias: str, key: str) -> str:
        if self._postgres:
            return f"({alias}.value ->> '{key}')"
        return f"CAST(json_extract({alias}.value, '$.{key}') AS TEXT)"

    def item_number(self, alias: str, key: str) -> str:
        if self._postgres:
            return f"({alias}.value ->> '{key}')::bigint"
        return f"json_extract({alias}.value, '$.{key}')"

    def item_flag(self, alias: str, key: str) -> str:
        if self._postgres:
            return f"({alias}.value ->> '{key}')::boolean"
        return f"json_extract({alias}.value, '$.{key}')"

    def array_of(self, value: str, source: str, order: str) -> str:
        """A sub-query: the JSON array of the texts ``value`` of ``source``, in order."""
        if self._postgres:
            inner = f"string_agg(to_json({value})::text, ',' ORDER BY {order})"
            return f"(SELECT '[' || coalesce({inner}, '') || ']' FROM {source})"  # noqa: S608 - names of ours
        ordered = f"(SELECT {value} AS item FROM {source} ORDER BY {order})"  # noqa: S608
        return f"(SELECT '[' || coalesce(group_concat(json_quote(item), ','), '') || ']' FROM {ordered})"  # noqa: S608, E501
