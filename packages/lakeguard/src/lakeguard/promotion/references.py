"""Datasets that the rules of another refer to, pinned when its run opens."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.gate.rules import measures_for
from lakeguard.promotion.builds import pin_input
from lakeguard.promotion.eligibility import Findings
from lakeguard.promotion.heart import Heart
from lakeguard.registry.store import RegisteredDataset
from lakeguard_sdk.measure import ComparedRows, UnmatchedRows
from lakeguard_sdk.run import InputPin

_REFERRING = (UnmatchedRows, ComparedRows)


def pin_references(
    connection: Connection, heart: Heart, dataset: RegisteredDataset, findings: Findings
) -> tuple[InputPin, ...]:
    """Each at its published version; one that has none refuses the run, in the findings.

    A dataset that refers to itself is read as the publish would leave it, and is not pinned.
    """
    definition = dataset.definition
    measures = measures_for(definition.rules, definition.table_schema)
    named = {measure.dataset for measure in measures if isinstance(measure, _REFERRING)}
    pins = [
        pin_input(connection, heart, name, None, findings, role="reference")
        for name in sorted(named - {dataset.name})
    ]
    return tuple(pin for pin in pins if pin is not None)
