"""Examples that cost seconds: one, drawn by chance, and never made smaller."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from tests.support.examples import examples

_ONE = examples(
    1,
    print_blob=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def by_chance(test: Callable[..., None]) -> Callable[..., None]:
    """The test gets ``chance``; what failed is told whole, as each further try costs seconds."""
    return _ONE(given(chance=st.randoms(use_true_random=True))(test))
