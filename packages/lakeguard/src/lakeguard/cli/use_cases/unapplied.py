"""What the project's files say and the registry does not: whoever deploys or lists is told."""

from __future__ import annotations

from pathlib import Path

from lakeguard.cli.terminal.escape import inert
from lakeguard.cli.terminal.layout import Tone, plural, toned
from lakeguard.registry.load_folder import load_folder
from lakeguard.registry.planning.describe import describe
from lakeguard.registry.text.definition_positions import DEFINITIONS
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.frozen_model import Noun
from lakeguard_sdk.errors import InvalidDefinitions, NotApart

_MOST_NAMED = 5


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


def unapplied_lines(found: Unapplied) -> list[str]:
    """One line of what is not the registry's, and the next command; none where all is."""
    mark = toned("!", Tone.WARN)
    if found.mistakes:
        many = plural(found.mistakes, "mistake")
        said = f"{mark} the files have {many}; what they change is not applied"
        return [said, "Next: lakeguard validate"]
    if not found.definitions:
        return []
    named = ", ".join(map(inert, found.definitions[:_MOST_NAMED]))
    left = len(found.definitions) - _MOST_NAMED
    more = f" and {left:,} more" if left > 0 else ""
    many = plural(len(found.definitions), "definition")
    verb = "is" if len(found.definitions) == 1 else "are"
    return [
        f"{mark} {many} of the files {verb} not applied: {named}{more}",
        "Next: lakeguard apply, then: lakeguard deploy",
    ]
