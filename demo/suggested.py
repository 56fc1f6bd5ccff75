"""The rules suggested for a year of flights, as listed in ``docs/how-to/suggestions.md``.

``python -m demo.suggested`` rewrites that page; a test compares it with the code.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
from deltalake import write_deltalake

from demo.landing import Landing
from lakeguard.insight.suggestions import Suggestion
from lakeguard.services.draft_rules import inspect_and_suggest
from lakeguard_sdk.model.source_preview import SourcePreview

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "suggestions.md"
LOOKED_AT = datetime(2014, 2, 1, tzinfo=UTC)
"""A month after the last flight."""
_BEGIN = "<!-- Made by: python -m demo.suggested -->"
_END = "<!-- Until here. -->"
_PIPE = "\\|"
_NULL = pyarrow.csv.ConvertOptions(null_values=["NA"], strings_can_be_null=True)


def flights_table(folder: Path) -> str:
    """Write all flights of 2013 as a Delta table; return its path."""
    landing = Landing(folder)
    landing.receive_year()
    landing.receive_last_day(in_seconds=False)
    place = str(folder / "flights")
    for file in (landing.year, landing.last_day):
        rows = pyarrow.csv.read_csv(file, convert_options=_NULL)
        stamped = rows.column("time_hour").cast(pa.timestamp("us", "UTC"))
        at = rows.schema.get_field_index("time_hour")
        write_deltalake(place, rows.set_column(at, "time_hour", stamped), mode="append")
    return place


def flights_suggestions(place: str) -> tuple[SourcePreview, list[Suggestion]]:
    """What adopting the table suggests if there are no rules yet."""
    return inspect_and_suggest(place, place, lambda _: (), LOOKED_AT, whole=True)


def listed(sketch: SourcePreview, found: Sequence[Suggestion]) -> str:
    """A sentence and a Markdown table."""
    rows = [
        ("rule", "because", "confidence", "fails on"),
        *(
            (f"`{one.rule}`", one.why, f"{one.confidence:.2f}", one.mutation.description)
            for one in found
        ),
    ]
    lines = [f"| {' | '.join(cell.replace('|', _PIPE) for cell in row)} |" for row in rows]
    title = f"{len(found)} rules, suggested from {sketch.rows:,} rows:"
    return "\n".join([title, "", lines[0], "|---|---|---|---|", *lines[1:]])


def parts(page: str) -> tuple[str, str, str]:
    """The page before, in and after the generated list."""
    before, _, rest = page.partition(_BEGIN)
    between, _, after = rest.partition(_END)
    return before, between.strip(), after


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = listed(*flights_suggestions(flights_table(Path(folder))))
    before, _, after = parts(PAGE.read_text("utf-8"))
    PAGE.write_text(f"{before}{_BEGIN}\n\n{table}\n\n{_END}{after}", "utf-8")


if __name__ == "__main__":
    main()
