"""What the reader's screen can show."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass

BLOCKS = "▁▂▃▄▅▆▇█"
_DIGITS = "12345678"


@dataclass(frozen=True)
class Screen:
    """How wide it is, and the marks of a chart: from the lowest to the highest, then the gap."""

    width: int = 100
    marks: str = BLOCKS
    gap: str = "·"


def this_screen() -> Screen:
    """Of standard output: plain digits where its encoding has no blocks."""
    width = shutil.get_terminal_size((100, 40)).columns
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        (BLOCKS + Screen.gap).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return Screen(width=width, marks=_DIGITS, gap="-")
    return Screen(width=width)
