"""What a policy on tags says of a column that may be made of anything that was read."""

from __future__ import annotations

import pytest

from lakeguard.gate.policies import evaluate_metadata
from lakeguard.gate.subject import InheritedTag
from lakeguard_sdk.core.enums import Outcome, PolicyType
from tests.unit.gate.cases import CLOCK, facts, policy, subject


@pytest.mark.parametrize(
    ("count", "named"),
    [
        (1, "b.a.c0 was read"),
        (2, "b.a.c0 and b.a.c1 were read"),
        (3, "b.a.c0, b.a.c1 and b.a.c2 were read"),
        (9, "b.a.c0, b.a.c1, b.a.c2 and 6 more were read"),
    ],
)
def test_at_most_three_columns_are_named(count: int, named: str) -> None:
    read = (f"b.a.c{number}" for number in range(count))
    travelled = tuple(
        InheritedTag(column="key", tag="pii", source=source, unknown=True) for source in read
    )
    case = facts(subject=subject(travelled=travelled))
    (found,) = evaluate_metadata(case, (policy("forbid tag:pii", PolicyType.PII),), CLOCK)
    assert found.outcome is Outcome.FAIL
    assert found.message == f"column key is of unknown lineage: {named}, tagged pii"
