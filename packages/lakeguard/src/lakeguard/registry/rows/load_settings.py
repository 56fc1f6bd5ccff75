"""``dataset_registry.load_settings``: what a load says beyond the columns of the seeds."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

from lakeguard.registry.rows.cells import Cells, flag_of
from lakeguard.registry.rows.drafts import Draft
from lakeguard.registry.rows.wording import shown
from lakeguard.registry.rows.worksheet import Worksheet
from lakeguard_sdk.errors import UnknownKey
from lakeguard_sdk.load import Load
from lakeguard_sdk.spelling import did_you_mean
from lakeguard_sdk.words import Deletes, LateRows, NullWatermark

COLUMN = "load_settings"
_ELSEWHERE = ("type", "keys", "hash", "watermark", "partition_by")
SETTINGS = tuple(field for field in Load.model_fields if field not in _ELSEWHERE)
_WORDS: dict[str, type[StrEnum]] = {
    "null_watermark": NullWatermark,
    "late": LateRows,
    "deletes": Deletes,
}
_FLAGS = ("inclusive", "allow_empty", "skip_unchanged")
_LISTS = ("order_by",)


def say_load_settings(sheet: Worksheet, draft: Draft, cells: Cells) -> None:
    """Each setting for itself: one that is not named stays as it is."""
    found = cells.json(COLUMN) if cells.text(COLUMN) else None
    if found is None:
        return
    if not isinstance(found, dict):
        cells.wrong(COLUMN, 'write a mapping, such as {"lag": "2 days"}')
        return
    for name, value in found.items():
        if name not in SETTINGS:
            hint = did_you_mean(name, SETTINGS)
            cells.add(UnknownKey(cells.place(COLUMN), key=shown(name), hint=hint))
            continue
        said, problem = _setting(name, value)
        if problem:
            cells.wrong(COLUMN, f"{name}: {problem}")
        else:
            sheet.say(draft, cells, ("load", name), COLUMN, said)


def _setting(name: str, value: Any) -> tuple[Any, str]:
    """What is said, or what is wrong with it."""
    if name in _LISTS:
        names = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return (tuple(value), "") if names else (None, "write a list of columns")
    if name in _FLAGS:
        flag = value if isinstance(value, bool) else flag_of(str(value))
        return flag, "" if flag is not None else "write true or false"
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None, "write a single text"
    text = str(value).strip()
    if name not in _WORDS:
        return text, ""
    words = [word.value for word in _WORDS[name]]
    said = text.lower() if text.lower() in words else None
    return said, "" if said else f"write one of {', '.join(words)}"


def load_settings_text(load: Load) -> str:
    """All settings, so that what is loaded over another load leaves nothing of it."""
    data = load.to_data()
    return json.dumps({name: data[name] for name in SETTINGS}, ensure_ascii=False)
