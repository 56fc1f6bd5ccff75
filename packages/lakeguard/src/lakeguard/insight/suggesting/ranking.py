"""Which suggestions come first, and which are shown at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lakeguard.insight.suggesting.suggestion import Draft, Held, Suggestion
from lakeguard_sdk.words import Outcome

SURE_ENOUGH = 0.7
_DOUBT = 10
"""Rows that a rule is doubted by: with as many for it, it is half as likely as it could be."""
_SAYS_NOTHING = (Outcome.ERROR, Outcome.NOT_EVALUATED)


def suggestion(draft: Draft, held: Sequence[Held] = ()) -> Suggestion:
    return Suggestion(
        rule=draft.rule,
        column=draft.column,
        about=draft.about,
        severity=draft.severity,
        why=draft.why,
        support=draft.support,
        confidence=_confidence(draft, held),
        mutation=draft.mutation,
        held=tuple(held),
    )


def ranked(found: Iterable[Suggestion], least: float = SURE_ENOUGH) -> list[Suggestion]:
    """The likeliest first; those below ``least`` are left out."""
    chosen = [item for item in found if item.confidence >= least]
    return sorted(chosen, key=lambda item: (-item.confidence, item.rule))


def _confidence(draft: Draft, held: Sequence[Held]) -> float:
    """More rows make it likelier, and a version that breaks the rule less so."""
    judged = [item for item in held if item.outcome not in _SAYS_NOTHING]
    kept = sum(item.outcome is Outcome.PASS for item in judged)
    share = kept / len(judged) if judged else 1.0
    believed = draft.support / (draft.support + _DOUBT)
    return round(draft.strength * believed * share, 2)
