"""Checks a source definition on its own."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.registry.files.details import secret_problems
from lakeguard.registry.files.source_locations import DOWNLOADED, PLACEHOLDER, place_problems
from lakeguard.registry.files.source_options import OPTIONS
from lakeguard.registry.text.characters import look_alike
from lakeguard.registry.text.definition_positions import Locate
from lakeguard.registry.text.yaml_nodes import Path
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.core.enums import TEXT_FORMATS, Malformed, SourceFormat
from lakeguard_sdk.errors import (
    DefinitionError,
    MissingKey,
    UnknownReference,
    WrongValue,
)
from lakeguard_sdk.model.definitions import SourceDefinition
from lakeguard_sdk.security.secret_values import address_holds_secret, looks_secret

PLACE = "path or url"


def source_errors(source: SourceDefinition, locate: Locate) -> Iterator[DefinitionError]:
    """Every error of a source, except secrets in texts, which are checked with all texts."""
    if source.format is SourceFormat.OTHER:
        if not source.source_type:
            place = locate(source, ("source_type",))
            yield MissingKey(place, key="source_type", at=["source_type"])
    elif not source.path and not source.url:
        yield MissingKey(locate(source, ("path",)), key=PLACE, at=["path"])
    elif not looks_secret(source.path) and not address_holds_secret(source.url):
        for field, problem in place_problems(source):
            yield _wrong(source, locate, (field,), problem)
        yield from _placeholder_errors(source, locate)
    for name, problem in secret_problems(source.secrets):
        yield _wrong(source, locate, ("secrets", name), problem)
    for field, problem in (*_header_problems(source), *_format_problems(source)):
        yield _wrong(source, locate, (field,), problem)
    for key, problem in _option_problems(source):
        yield _wrong(source, locate, ("options", key), problem)


def _placeholder_errors(source: SourceDefinition, locate: Locate) -> Iterator[DefinitionError]:
    if source.format not in DOWNLOADED:
        return
    for name in PLACEHOLDER.findall(source.url):
        if name not in source.secrets:
            place, hint = locate(source, ("url",)), did_you_mean(name, source.secrets)
            fields = {"kind": "secret", "name": name[:80], "hint": hint}
            yield UnknownReference(place, at=["url"], **fields)


def _header_problems(source: SourceDefinition) -> Iterator[tuple[str, str]]:
    if source.header and source.format is not SourceFormat.CSV:
        yield "header", "only csv has a header"
    if not all(name.strip() for name in source.header):
        yield "header", "the header must not have empty names"
    if len(set(map(look_alike, source.header))) < len(source.header):
        yield "header", "duplicate column"


def _format_problems(source: SourceDefinition) -> Iterator[tuple[str, str]]:
    """Settings that only some formats support."""
    if source.malformed is Malformed.QUARANTINE and source.format not in TEXT_FORMATS:
        yield "malformed", f"{source.format} cannot quarantine lines; write refuse"
    if source.landing and source.format not in DOWNLOADED:
        yield "landing", f"{source.format} has no files to retain"


def _option_problems(source: SourceDefinition) -> Iterator[tuple[str, str]]:
    known = OPTIONS[source.format]
    for key, value in source.options.items():
        if key not in known:
            yield key, f"{source.format} has no option {key[:80]!r}"
        elif not looks_secret(value) and (problem := known[key](value)):
            yield key, problem
    if "slices" in source.options and "slice_by" not in source.options:
        yield "slices", "needs slice_by, the column to slice by"


def _wrong(source: SourceDefinition, locate: Locate, at: Path, problem: str) -> DefinitionError:
    key = str(at[-1])[:80]
    return WrongValue(locate(source, at), key=key, problem=problem, hint="", at=list(at))
