"""Every generated file of the repository, with the function that returns its text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tools.docs.api_reference import api_reference, published_openapi
from tools.docs.editor_schema import editor_schema
from tools.docs.error_codes import error_reference
from tools.docs.record_kinds import kind_pages
from tools.docs.rule_catalogue import macros_reference
from tools.docs.rules_and_policies import policies_reference, rules_reference
from tools.docs.schema_changes import schema_reference
from tools.docs.tables import table_reference

ROOT = Path(__file__).parents[2]
SHIPPED_SCHEMA = "packages/lakeguard/src/lakeguard/registry/definitions.schema.json"
"""The wheel holds the schema too: a project keeps the one of its installed version."""

PAGES: dict[str, Callable[[], str]] = {
    **kind_pages(),
    "docs/reference/api.md": api_reference,
    "docs/reference/catalogue.md": macros_reference,
    "docs/reference/definitions.schema.json": editor_schema,
    "docs/reference/errors.md": error_reference,
    "docs/reference/openapi.json": published_openapi,
    "docs/reference/policies.md": policies_reference,
    "docs/reference/rules.md": rules_reference,
    "docs/reference/schema-changes.md": schema_reference,
    "docs/reference/tables.md": table_reference,
    SHIPPED_SCHEMA: editor_schema,
}


def stale_pages(root: Path = ROOT) -> dict[str, str]:
    """The current text of each file that is missing or differs."""
    texts = {name: make() for name, make in PAGES.items()}
    return {name: text for name, text in texts.items() if _read(root / name) != text}


def write_pages(root: Path = ROOT) -> list[str]:
    """Write the files that are stale; return their names."""
    stale = stale_pages(root)
    for name, text in stale.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return sorted(stale)


def _read(path: Path) -> str | None:
    return path.read_text("utf-8") if path.exists() else None
