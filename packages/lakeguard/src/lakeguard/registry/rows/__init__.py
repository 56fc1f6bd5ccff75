"""Reads files of table rows without executing them; each value has its position."""

from lakeguard.registry.rows.row import NOW, Now, Row, Value
from lakeguard.registry.rows.row_files import read_rows

__all__ = ["NOW", "Now", "Row", "Value", "read_rows"]
