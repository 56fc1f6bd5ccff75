"""Task tokens: opaque text that the control plane issues for one attempt, and reads again."""

from __future__ import annotations

from datetime import timedelta

PREFIX = "lgt1_"
LONGEST = 64 * 1024
"""Characters of a token; one that lists many inputs is long."""
LIFETIME = timedelta(minutes=10)
"""Of a token that the worker of an attempt asks for, and renews while its lease holds."""
SERVICE_PREFIX = "lgs1_"
"""Of the service tokens of workers, which ask for them."""
