"""Published versions as live tables in PostgreSQL."""

from openlaketx.deliver.postgresql.delivery import deliver_to_postgresql
from openlaketx.deliver.postgresql.marker import Delivered

__all__ = ["Delivered", "deliver_to_postgresql"]
