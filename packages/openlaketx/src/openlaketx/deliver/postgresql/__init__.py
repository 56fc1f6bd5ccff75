"""Published versions as a live table of a PostgreSQL database."""

from openlaketx.deliver.postgresql.delivery import deliver_to_postgresql
from openlaketx.deliver.postgresql.marker import Delivered

__all__ = ["Delivered", "deliver_to_postgresql"]
