"""What the project's files say and the registry does not: whoever deploys or lists is told."""

from __future__ import annotations

from pathlib import Path

from lakeguard.registry.load_folder import load_folder
from lakeguard.registry.planning.describe import describe
from lakeguard.registry.text.definition_positions import DEFINITIONS
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.frozen_model import Noun
from lakeguard_sdk.errors import InvalidDefinitions, NotApart


class Unapplied(Noun):
    """``+ job report`` for what is new, ``~ dataset silver.orders`` for what differs."""

    definitions: tuple[str, ...] = ()
    mistakes: int = 0
    """Where there are any, nobody knows what differs."""

    @property
    def jobs(self) -> tuple[str, ...]:
        """Names of new ones."""
        start = "+ job "
        return tuple(
            said.removeprefix(start) for said in self.definitions if said.startswith(start)
        )


def unapplied(client: Client, folder: Path) -> Unapplied:
    """Of a project without files of definitions, nothing."""
    if not (folder / DEFINITIONS).is_dir():
        return Unapplied()
    try:
        plan = client.registry.plan(load_folder(folder))
    except InvalidDefinitions as invalid:
        return Unapplied(mistakes=len(invalid.errors))
    except NotApart:
        return Unapplied(mistakes=1)
    return Unapplied(
        definitions=tuple(f"{line.sign} {line.kind} {line.name}" for line in describe(plan))
    )
