"""Rules that data suggests: drafted from a profile, then held against the rows themselves."""

from lakeguard.insight.suggesting.checking import (
    Answers,
    Trial,
    asked_measures,
    held,
    kept,
    tried,
)
from lakeguard.insight.suggesting.drafting import drafts
from lakeguard.insight.suggesting.ranking import SURE_ENOUGH, ranked, suggestion
from lakeguard.insight.suggesting.seen import Earlier, OtherKey, Seen
from lakeguard.insight.suggesting.suggestion import Held, Mutation, MutationKind, Suggestion

__all__ = [
    "SURE_ENOUGH",
    "Answers",
    "Earlier",
    "Held",
    "Mutation",
    "MutationKind",
    "OtherKey",
    "Seen",
    "Suggestion",
    "Trial",
    "asked_measures",
    "drafts",
    "held",
    "kept",
    "ranked",
    "suggestion",
    "tried",
]
