"""Task tokens: opaque text that the control plane issues for one attempt, and reads again."""

from __future__ import annotations

from datetime import timedelta

PREFIX = "lgt1_"
LONGEST = 64 * 1024
"""Maximum characters of a token, which lists the inputs of a run."""
LIFETIME = timedelta(minutes=10)
"""Of a token that a worker requests for an attempt and renews while the lease holds."""
SERVICE_PREFIX = "lgs1_"
"""Of the service tokens with which workers request task tokens."""
