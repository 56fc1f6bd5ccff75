"""What a SCHEMA policy demands of differences, whatever the profile of the dataset would say."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from lakeguard.gate.schema_profiles import BUILT_IN
from lakeguard_sdk.run import SchemaReaction
from lakeguard_sdk.schema_words import Reaction


def breaches(mode: str, differences: Iterable[SchemaReaction]) -> tuple[SchemaReaction, ...]:
    """Those that the mode does not accept."""
    answers = BUILT_IN[mode.lower()]
    return tuple(item for item in differences if answers[item.change] is Reaction.BLOCK)


def guaranteed(
    differences: Iterable[SchemaReaction], modes: Collection[str]
) -> Iterator[SchemaReaction]:
    """The differences, with BLOCK as the answer to all that one of the modes does not accept."""
    for item in differences:
        breached = any(breaches(mode, (item,)) for mode in modes)
        blocked = {"reaction": Reaction.BLOCK, "why": ""}
        yield item.model_copy(update=blocked) if breached else item
