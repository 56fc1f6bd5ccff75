"""Definitions in the project's files that are not applied."""

from __future__ import annotations

from pathlib import Path

from lakeguard.registry.load_folder import load_folder
from lakeguard.registry.planning.describe import describe
from lakeguard.registry.text.definition_positions import DEFINITIONS
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.errors import InvalidDefinitions, StateDatabaseShared


class Unapplied(FrozenModel):
    """``+ job report`` for what is new, ``~ dataset silver.orders`` for what differs."""

    definitions: tuple[str, ...] = ()
    mistakes: int = 0
    """Number of errors in the files; where there are any, differences are unknown."""
    first_mistake: str = ""
    """``sql/orders.sql:3: what is wrong there``"""

    @property
    def jobs(self) -> tuple[str, ...]:
        """Names of new jobs."""
        start = "+ job "
        return tuple(
            line.removeprefix(start) for line in self.definitions if line.startswith(start)
        )


def unapplied(client: Client, folder: Path) -> Unapplied:
    """Empty for a project without definition files."""
    if not (folder / DEFINITIONS).is_dir():
        return Unapplied()
    try:
        plan = client.registry.plan(load_folder(folder))
    except InvalidDefinitions as invalid:
        first = invalid.errors[0]
        mistake = f"{first.place.file}:{first.place.line}: {first}"
        return Unapplied(mistakes=len(invalid.errors), first_mistake=mistake)
    except StateDatabaseShared as shared:
        return Unapplied(mistakes=1, first_mistake=str(shared))
    return Unapplied(
        definitions=tuple(f"{line.sign} {line.kind} {line.name}" for line in describe(plan))
    )
