"""Suggested rules: drafted from a profile, then checked against the rows."""

from lakeguard.insight.suggestions.check_rules import (
    SURE_ENOUGH,
    Answers,
    Trial,
    asked_measures,
    held,
    kept,
    ranked,
    suggestion,
    tried,
)
from lakeguard.insight.suggestions.draft import drafts
from lakeguard.insight.suggestions.suggestion import (
    Earlier,
    Held,
    Mutation,
    MutationKind,
    OtherKey,
    Seen,
    Suggestion,
)

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
