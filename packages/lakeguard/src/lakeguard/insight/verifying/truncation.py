"""TRUNCATED: the chain holds every head that was told outside of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lakeguard.relay.chain import GENESIS
from lakeguard.relay.owner import OWNER_FILE, Ownership
from lakeguard.relay.stamping import Link
from lakeguard_sdk.proof import Finding, FindingKind


def truncation_findings(
    links: Sequence[Link], owner: Ownership | None, kept: str | None
) -> Iterator[Finding]:
    """``kept`` is a head that somebody wrote down elsewhere."""
    heads = {link.batch: link.head for link in links}
    last = max(heads, default=0)
    if owner is not None and owner.batch:
        if owner.batch not in heads:
            said = f"expected batch {owner.batch} in the chain, which ends at batch {last}"
            yield _finding(OWNER_FILE, said)
        elif heads[owner.batch] != owner.head:
            said = (
                f"expected head {owner.head} after batch {owner.batch}, found {heads[owner.batch]}"
            )
            yield _finding(OWNER_FILE, said)
    if kept is not None and kept not in {*heads.values(), GENESIS}:
        said = f"expected among the {len(links):,} heads of the chain, found in none"
        yield _finding(f"head {kept}", said)


def _finding(place: str, message: str) -> Finding:
    return Finding(kind=FindingKind.TRUNCATED, place=place, message=message)
