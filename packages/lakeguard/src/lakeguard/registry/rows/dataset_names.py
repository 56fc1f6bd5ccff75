"""Resolves the dataset of a row: by layer and name, ``layer.name`` or id."""

from __future__ import annotations

from lakeguard.registry.rows.cells import Cells
from lakeguard.registry.rows.texts import clean_word, shown
from lakeguard.registry.rows.worksheet import Worksheet
from lakeguard_sdk.core.enums import Layer
from lakeguard_sdk.errors import BadDefinitionName

_LAYERS = tuple(layer.value for layer in Layer)


def written_dataset(cells: Cells, column: str, layer_column: str) -> str | None:
    """``flights`` with a layer column, or ``silver.flights``."""
    text = cells.needed(column)
    if text is None:
        return None
    layer = cells.choice(layer_column, Layer)
    before, dot, rest = text.partition(".")
    if dot and before.lower() in _LAYERS:
        if layer is not None and layer.value != before.lower():
            cells.wrong(layer_column, f"{layer} here, but {shown(text)} in {column}")
            return None
        layer, text = Layer(before.lower()), rest
    if layer is None:
        if not cells.has(layer_column):
            cells.missing(layer_column)
        return None
    name = clean_word(text)
    if name is None:
        cells.add(BadDefinitionName(cells.place(column), name=shown(text)))
        return None
    return f"{layer.value}.{name}"


def dataset_of(sheet: Worksheet, cells: Cells, layer_column: str = "layer") -> str | None:
    """The dataset of a row, possibly new; name and id must agree."""
    if not cells.has("dataset_name"):
        return sheet.datasets.resolve(cells, "dataset_id")
    name = written_dataset(cells, "dataset_name", layer_column)
    if name is not None and cells.has("dataset_id"):
        known = sheet.datasets.find(cells.text("dataset_id") or "")
        if known not in (None, name):
            cells.wrong("dataset_name", f"{name} here, but dataset_id is {known}")
            return None
    return name


def object_dataset(cells: Cells, source: str | None) -> str | None:
    """The default name: layer and clean name of the object, or of the source without objects."""
    layer = cells.choice("layer", Layer) if cells.has("layer") else Layer.BRONZE
    name_text = cells.text("object_name") or source
    if layer is None or name_text is None:
        return None
    name = cells.as_word("object_name", name_text)
    return None if name is None else f"{layer.value}.{name}"
