"""Giving up quarantined rows: who, when and why stays beside them."""

from __future__ import annotations

from lakeguard.ledger.intents import hold_table, open_intent
from lakeguard.ledger.quarantine.facts import record_discard
from lakeguard.ledger.quarantine.load import quarantine_of
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.quarantine.quarantine_tables import sync_quarantine_table
from lakeguard.promotion.quarantine.replay import chosen_holdings
from lakeguard.registry.store import require_dataset
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import DiscardInvalid, SecretInReason, TableBusy
from lakeguard_sdk.model.quarantine import QuarantineEntry, QuarantineSelection
from lakeguard_sdk.security.secret_values import holds_secret
from lakeguard_sdk.storage.fault_points import reached

LONGEST_REASON = 2000


def discard_rows(
    context: PlaneContext, name: DatasetName, choice: QuarantineSelection, reason: str
) -> tuple[QuarantineEntry, ...]:
    """Discard the selected rows at once; refused without a reason, or if nothing is held."""
    _check(name, reason)
    with context.write() as tx:
        dataset = require_dataset(tx, name)
        hold_table(tx, dataset.dataset_id)
        under_way = open_intent(tx, dataset.dataset_id)
        if under_way is not None:  # a replay may have taken the rows by now
            raise TableBusy(dataset=dataset.name, holder=under_way.run_id)
        chosen = chosen_holdings(tx, dataset, choice)
        at = tx.now()
        for holding in chosen:
            record_discard(tx, dataset.dataset_id, holding, reason=reason.strip(), at=at)
        found = quarantine_of(tx, dataset.dataset_id)
        gone = {(item.run_id, item.rule_id) for item in chosen}
        rows = [row for row in found.entries(dataset.name) if (row.run_id, row.rule_id) in gone]
    reached("quarantine.discarded")
    sync_quarantine_table(context, dataset.dataset_id)
    return tuple(rows)


def _check(name: DatasetName, reason: str) -> None:
    if not reason.strip():
        raise DiscardInvalid(dataset=name, problem="it needs a reason")
    if len(reason) > LONGEST_REASON or not reason.strip().isprintable():
        problem = f"a reason is at most {LONGEST_REASON:,} characters that can be seen, on one line"
        raise DiscardInvalid(dataset=name, problem=problem)
    if holds_secret(reason):
        raise SecretInReason()
