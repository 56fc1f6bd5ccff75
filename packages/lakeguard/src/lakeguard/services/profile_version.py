"""The profile of a version: the stored one, or a new one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from lakeguard_sdk.client import Client
from lakeguard_sdk.client import profile as take_profile
from lakeguard_sdk.core.dataset_name import Address
from lakeguard_sdk.model.profile import Profile

Working = Callable[[str], AbstractContextManager[object]]
"""Entered with a description while something long runs."""


def profile_of(
    client: Client, address: Address, *, again: bool = False, working: Working = nullcontext
) -> Profile:
    """The newest stored profile of the version; computed where there is none, or if ``again``."""
    found = client.reader.resolve(address)
    stored = client.reader.profiles(found.dataset, found.version)
    if stored and not again:
        return stored[0]
    exact = Address(dataset=found.dataset, version=found.version)
    with working(f"profiling {exact}"):
        plan = client.operations.plan_profile(exact)
        taken = take_profile(plan.dataset, client.reader, masked=plan.masked)
    return client.operations.record_profile(taken)
