"""The profile of a version: the one that was kept, or one that is taken now."""

from __future__ import annotations

from lakeguard.cli.terminal.progress import working
from lakeguard_sdk.client import Client
from lakeguard_sdk.client import profile as take_profile
from lakeguard_sdk.core.dataset_name import Address
from lakeguard_sdk.model.profile import Profile


def profile_of(client: Client, address: Address, *, again: bool = False) -> Profile:
    """The newest of the version, taken and kept where there is none or ``again`` asks for it."""
    found = client.reader.resolve(address)
    kept = client.reader.profiles(found.dataset, found.version)
    if kept and not again:
        return kept[0]
    exact = Address(dataset=found.dataset, version=found.version)
    with working(f"profiling {exact}"):
        plan = client.operations.plan_profile(exact)
        taken = take_profile(plan.dataset, masked=plan.masked)
    return client.operations.record_profile(taken)
