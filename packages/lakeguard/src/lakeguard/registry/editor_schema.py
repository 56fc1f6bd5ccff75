"""``python -m lakeguard.registry.editor_schema`` prints the JSON Schema of definition files.

The file is generated from the keys and values that the parsers accept.
"""

from __future__ import annotations

import sys
from importlib.resources import files


def editor_schema() -> str:
    return (files("lakeguard.registry") / "definitions.schema.json").read_text("utf-8")


if __name__ == "__main__":
    sys.stdout.write(editor_schema())
