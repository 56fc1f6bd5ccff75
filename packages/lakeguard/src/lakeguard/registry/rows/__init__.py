"""Files of table rows, read and never executed: each value with its exact place."""

from lakeguard.registry.rows.row import NOW, Now, Row, Value
from lakeguard.registry.rows.row_files import read_rows

__all__ = ["NOW", "Now", "Row", "Value", "read_rows"]
