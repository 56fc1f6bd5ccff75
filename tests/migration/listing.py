"""All that a schema holds, as text that can be compared; alembic's own table is left out."""

from __future__ import annotations

from sqlalchemy import Connection, text

_SQLITE = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'alem%'"

_OURS = "(SELECT oid FROM pg_namespace WHERE nspname = current_schema())"
_POSTGRESQL = f"""
    SELECT 'column ' || c.relname || '.' || a.attname,
           a.attnum || ' ' || format_type(a.atttypid, a.atttypmod)
           || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
           || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid, true), '')
           || a.attidentity::text
      FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
     WHERE c.relnamespace = {_OURS} AND c.relkind IN ('r', 'v') AND a.attnum > 0
       AND NOT a.attisdropped AND c.relname <> 'alembic_version'
    UNION ALL
    SELECT 'constraint ' || c.relname || '.' || k.conname, pg_get_constraintdef(k.oid, true)
      FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
     WHERE c.relnamespace = {_OURS} AND c.relname <> 'alembic_version'
    UNION ALL
    SELECT 'index ' || c.relname, pg_get_indexdef(c.oid, 0, true)
      FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
     WHERE c.relnamespace = {_OURS} AND NOT c.relname LIKE 'alembic_version%'
    UNION ALL
    SELECT 'view ' || c.relname, pg_get_viewdef(c.oid, true)
      FROM pg_class c WHERE c.relnamespace = {_OURS} AND c.relkind = 'v'
    UNION ALL
    SELECT t.tgname, pg_get_triggerdef(t.oid, true)
      FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
     WHERE c.relnamespace = {_OURS} AND NOT t.tgisinternal
    UNION ALL
    SELECT 'function ' || p.proname, p.prosrc
      FROM pg_proc p WHERE p.pronamespace = {_OURS}
    UNION ALL
    SELECT 'sequence ' || c.relname, ''
      FROM pg_class c WHERE c.relnamespace = {_OURS} AND c.relkind = 'S'
"""


def listing(connection: Connection) -> dict[str, str]:
    """Name and definition of everything; a trigger stands under its bare name."""
    if connection.dialect.name == "sqlite":
        rows = connection.execute(text(_SQLITE))
        return {name: " ".join(sql.split()) for name, sql in rows}
    schema = connection.scalar(text("SELECT quote_ident(current_schema())"))
    rows = connection.execute(text(_POSTGRESQL.replace("::", "\\:\\:")))
    return {name: " ".join(sql.split()).replace(f"{schema}.", "") for name, sql in rows}


def parts_of(statement: str) -> list[str]:
    """A CREATE statement without the order of its constraints; columns keep theirs."""
    head, _, body = " ".join(statement.split()).partition("(")
    depth, parts = 0, [""]
    for character in body:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    words = ("PRIMARY", "UNIQUE", "CONSTRAINT", "FOREIGN", "CHECK")
    parts = [part.strip().rstrip(") ") for part in parts]
    constraints = sorted(part for part in parts if part.startswith(words))
    return [head, *(part for part in parts if not part.startswith(words)), *constraints]
