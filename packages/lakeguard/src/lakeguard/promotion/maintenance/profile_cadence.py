"""When a profile is due, and storing the one that a run took."""

from __future__ import annotations

from lakeguard.dispatch import tasks
from lakeguard.gate.grammar.literals import duration
from lakeguard.ledger.profiles import last_profiled, profiled_versions
from lakeguard.ledger.versions import pointer, require_version
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.maintenance.profiles import keep, plan_of
from lakeguard.registry.store import dataset_by_id
from lakeguard.state.locks import hold
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import ProfileRefused
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.profile import Profile, ProfilePlan
from lakeguard_sdk.model.run import RunTicket

EVERY_VERSION = "version"
_TRUE = ("true", "1", "yes", "y", "on")


def due_profile(context: PlaneContext, ticket: RunTicket) -> ProfilePlan | None:
    """The published version, if its run ended and its profiling interval has passed."""
    with context.read() as tx:
        task = tasks.require_holder(tx, ticket)
        dataset = dataset_by_id(tx, task.dataset_id)
        published = pointer(tx, dataset.dataset_id)
        every = profile_every(dataset.definition)
        if task.state is TaskState.RUNNING or published is None or not every:
            return None
        if not _is_due(tx, dataset.dataset_id, published.version, every):
            return None
        stored = require_version(tx, dataset.dataset_id, published.version)
        return plan_of(tx, context, dataset, stored)


def submit_profile(context: PlaneContext, ticket: RunTicket, profile: Profile) -> None:
    """Store the profile if it belongs to the run's dataset and the version has none yet."""
    with context.write() as tx:
        task = tasks.require_holder(tx, ticket)
        dataset = dataset_by_id(tx, task.dataset_id)
        if profile.dataset != dataset.name:
            raise ProfileRefused(
                dataset=profile.dataset,
                version=profile.version,
                reason=f"run {ticket.run_id} is one of {dataset.name}",
            )
        stored = require_version(tx, dataset.dataset_id, profile.version)
        hold(tx, f"profile:{dataset.dataset_id}")
        if stored.version not in profiled_versions(tx, dataset.dataset_id):
            keep(tx, dataset, stored, profile)


def profile_every(definition: DatasetDefinition) -> str:
    """The profiling interval of the definition or the source object; empty if none."""
    if definition.profile_every:
        return definition.profile_every
    enabled = definition.details.get("profiling_enabled", "")
    return EVERY_VERSION if enabled.strip().lower() in _TRUE else ""


def _is_due(tx: Transaction, dataset_id: str, version: int, every: str) -> bool:
    now = tx.now()
    if version in profiled_versions(tx, dataset_id):
        return False
    last = last_profiled(tx, dataset_id)
    return every == EVERY_VERSION or last is None or now - last >= duration(every)
