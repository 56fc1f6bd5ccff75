"""Sources of every format, with all that each format can say."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from lakeguard.registry.files.source_locations import DOWNLOADED
from lakeguard_sdk.core.enums import TEXT_FORMATS, Malformed, SourceFormat
from tests.support.strategies.texts import TEXTS

FLAGS = st.booleans()
PATHS = st.sampled_from(("data/*.csv", "in coming/x", "file:///data"))
ADDRESSES = (
    ("https://data.example/orders.csv.gz", {}),
    ("http://127.0.0.1:8000/x?token={token}&a=b", {"token": "env:TOKEN"}),
    ("https://data.example/{key}/x", {"key": "file:/run/my key", "spare": "env:SPARE"}),
)
DATABASE = "jdbc:postgresql://db.example:5432/shop?sslmode=require"
LOGIN = {"user": "env:SHOP_USER", "password": "file:/run/secrets/shop"}
HEADERS = st.lists(
    st.sampled_from(("order_id", "Amount, EUR", "a b", '"q"', "true")), max_size=3, unique=True
)


def any_place(draw: st.DrawFn) -> dict[str, Any]:
    """The fields of a source that say what is read, and how."""
    form = draw(st.sampled_from(SourceFormat))
    given: dict[str, Any] = {"format": form}
    if form is SourceFormat.OTHER:
        return {**given, "source_type": draw(st.sampled_from(("Oracle", "SAP HANA")))}
    if form is SourceFormat.JDBC:
        return {**given, "url": DATABASE, "secrets": draw(st.sampled_from(({}, LOGIN))),
                "options": _database_options(draw)}  # fmt: skip
    if form in DOWNLOADED and draw(FLAGS):
        given["url"], given["secrets"] = draw(st.sampled_from(ADDRESSES))
    else:
        given["path"] = draw(PATHS)
    if form in TEXT_FORMATS:
        given["malformed"] = draw(st.sampled_from(Malformed))
        given["options"] = _text_options(draw, form)
    if form is SourceFormat.CSV:
        given["header"] = tuple(draw(HEADERS))
    if form in DOWNLOADED:
        given["landing"] = draw(FLAGS)
    return given


def _text_options(draw: st.DrawFn, form: SourceFormat) -> dict[str, str]:
    if draw(FLAGS):
        return {}
    encoding = {"encoding": draw(st.sampled_from(("utf-8", "windows-1252")))}
    if form is SourceFormat.JSONL:
        return encoding
    return {"delimiter": draw(st.sampled_from(",;\t ")), "null_value": draw(TEXTS), **encoding}


def _database_options(draw: st.DrawFn) -> dict[str, str]:
    options = {}
    if draw(FLAGS):
        options = {"slice_by": "Order Id", "slices": draw(st.sampled_from(("1", "64")))}
    return {**options, "fetch_size": "5000"} if draw(FLAGS) else options
