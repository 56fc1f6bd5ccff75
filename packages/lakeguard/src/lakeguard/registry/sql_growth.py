"""Whether a SELECT makes of each row its own rows, so that new rows only make new ones."""

from __future__ import annotations

from sqlglot import exp

_LOOKS_AT_OTHER_ROWS = (
    exp.AggFunc,
    exp.Group,
    exp.Having,
    exp.Distinct,
    exp.Window,
    exp.Limit,
    exp.Offset,
    exp.Fetch,
    exp.SetOperation,
    exp.Subquery,
    exp.CTE,
    exp.Exists,
    exp.Pivot,
    exp.TableSample,
)
_KEEPS_LEFT = ("", "LEFT", "INNER", "CROSS")


def row_by_row(root: exp.Expr) -> str | None:
    """The dataset after FROM, if no other row of it has a say in what a row becomes.

    Anything but a plain SELECT over it, with others joined to its right, is taken not to be.
    """
    if not isinstance(root, exp.Select) or root.find(*_LOOKS_AT_OTHER_ROWS) is not None:
        return None
    tables = list(root.find_all(exp.Table))
    joins = root.args.get("joins") or []
    if any(str(join.side or join.kind or "").upper() not in _KEEPS_LEFT for join in joins):
        return None
    if not tables or any(not table.db for table in tables):
        return None
    names = [f"{table.db}.{table.name}" for table in tables]
    first = root.args.get("from_") or root.args.get("from")
    if first is None or not isinstance(first.this, exp.Table):
        return None
    name = f"{first.this.db}.{first.this.name}"
    return name if names.count(name) == 1 else None
