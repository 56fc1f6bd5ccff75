"""Names that a person takes for each other: of two, the second is refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lakeguard.registry.characters import look_alike, look_alike_names
from lakeguard.registry.kinds import key_of, name_of
from lakeguard.registry.locating import by_file
from lakeguard.registry.whole import Whole
from lakeguard_sdk.definition import Definition
from lakeguard_sdk.errors import DefinitionError, LookAlike


def look_alike_errors(whole: Whole) -> Iterator[DefinitionError]:
    """Among what is new, and between it and what is registered; kind by kind."""
    new = [item for item in whole.changed if key_of(item) not in whole.current.entries]
    kinds = {item.kind for item in new}
    seen: dict[tuple[str, int, str], str] = {}
    for kind, name in whole.current.entries:
        if kind in kinds and not (kind == "dataset" and name in whole.renamed):
            seen.update({(kind, *form): name for form in enumerate(look_alike_names(name))})
    for item in sorted(new, key=name_of):
        name = name_of(item)
        forms = [(item.kind, *form) for form in enumerate(look_alike_names(name))]
        twins = {seen.setdefault(form, name) for form in forms} - {name}
        if twins:
            place, twin = by_file(item, ()), min(twins)
            yield LookAlike(place, kind=item.kind, name=name, twin=twin, at=[item.kind])
    yield from _external_ids(whole)


def _external_ids(whole: Whole) -> Iterator[DefinitionError]:
    """Another system's id means one thing of a kind."""
    claims = [item for item in whole.changed if _claimed(item, whole)]
    for kind in sorted({item.kind for item in claims}):
        owners = {
            look_alike(external): name
            for external, name in whole.current.library.external_ids(kind).items()
            if (kind, name) not in whole.defined and name not in whole.renamed
        }
        yield from _doubly_claimed(_of_kind(whole.defined.values(), kind), claims, owners)


def _doubly_claimed(
    defined: Iterable[Definition], claims: list[Definition], owners: dict[str, str]
) -> Iterator[DefinitionError]:
    claiming = {key_of(item) for item in claims}
    for item in sorted(defined, key=lambda each: (key_of(each) in claiming, name_of(each))):
        external: str = getattr(item, "external_id", "")
        if not external:
            continue
        owner = owners.setdefault(look_alike(external), name_of(item))
        if owner != name_of(item):
            place = by_file(item, ())
            said = f"{item.kind} with external_id"
            yield LookAlike(place, kind=said, name=external, twin=owner, at=["external_id"])


def _of_kind(definitions: Iterable[Definition], kind: str) -> list[Definition]:
    return [item for item in definitions if item.kind == kind]


def _claimed(item: Definition, whole: Whole) -> bool:
    """Whether the definition says an external id that its registered form did not."""
    external: str = getattr(item, "external_id", "")
    if not external:
        return False
    before = whole.current.definition(*key_of(item))
    return getattr(before, "external_id", "") != external
