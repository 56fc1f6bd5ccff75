"""The table of operations holds every method of every port, and no route twice."""

from __future__ import annotations

import pytest

from lakeguard_sdk.api.operation import Effect
from lakeguard_sdk.api.operations import OPERATIONS, PORTS, operations_by_name
from lakeguard_sdk.api.port_types import types_of


def test_every_method_of_every_port_has_a_row() -> None:
    methods = {
        f"{port}.{method}"
        for port, protocol in PORTS.items()
        for method in vars(protocol)
        if not method.startswith("_")
    }
    assert operations_by_name().keys() == methods
    assert len(operations_by_name()) == len(OPERATIONS)


@pytest.mark.parametrize("name", sorted(operations_by_name()))
def test_a_row_fits_its_method(name: str) -> None:
    operation = operations_by_name()[name]
    types = types_of(operation)
    assert all(each.is_required for each in types.path), "what stands in a path is always given"
    assert (operation.effect is Effect.SAFE) or operation.verb != "GET"
    assert not operation.tagged or operation.verb == "GET"
    assert set(types.callbacks) <= {"progress", "refused", "remeasure"}
    if "progress" in types.callbacks:
        assert operation.long
