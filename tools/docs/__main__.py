"""``python -m tools.docs``: write every generated file that is stale."""

from __future__ import annotations

from tools.docs.pages import write_pages

if __name__ == "__main__":
    for name in write_pages() or ["all generated files are current"]:
        print(name)
