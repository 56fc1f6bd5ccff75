"""Suggested rules: drafted from a profile, then checked against the rows."""

from lakeguard.insight.suggestions.check_rules import (
    SURE_ENOUGH,
    Answers,
    Trial,
    passing,
    ranked,
    required_measures,
    result_on,
    suggestion,
    tried,
)
from lakeguard.insight.suggestions.draft import drafts
from lakeguard.insight.suggestions.suggestion import (
    Earlier,
    Mutation,
    MutationKind,
    OtherKey,
    ProfileFacts,
    Suggestion,
    VersionResult,
)

__all__ = [
    "SURE_ENOUGH",
    "Answers",
    "Earlier",
    "Mutation",
    "MutationKind",
    "OtherKey",
    "ProfileFacts",
    "Suggestion",
    "Trial",
    "VersionResult",
    "drafts",
    "passing",
    "ranked",
    "required_measures",
    "result_on",
    "suggestion",
    "tried",
]
