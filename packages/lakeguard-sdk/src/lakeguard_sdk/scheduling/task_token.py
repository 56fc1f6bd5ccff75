"""Task tokens: opaque text that the control plane issues for one attempt, and reads again."""

from __future__ import annotations

PREFIX = "lgt1_"
LONGEST = 64 * 1024
"""Characters of a token; one that lists many inputs is long."""
