"""``forbid tag:pii``, ``forbid columns [ssn]``, ``forbid pattern '…' in samples``"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import ClassVar, Literal

from lakeguard.gate.grammar.cursor import Cursor
from lakeguard.gate.grammar.grammar_error import nearest
from lakeguard.gate.policy_types.policy_form import (
    FormReference,
    Needs,
    PolicyForm,
    PolicyInput,
    PolicyKind,
    PolicyResult,
)
from lakeguard.gate.policy_types.policy_tokens import (
    expect_list,
    expect_one_of,
    expect_pattern,
    list_text,
    quoted,
)
from lakeguard_sdk.core.enums import PolicyType
from lakeguard_sdk.expressions.conditions import ColumnRef, holds_pattern
from lakeguard_sdk.expressions.measures import (
    CountIf,
    Measure,
    SampleMatches,
    measure_key,
)
from lakeguard_sdk.types.schema import TableSchema, field_names, leaf_types

_TAG = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}\Z")
MASKING_FUNCTIONS = ("md5", "sha", "sha1", "sha2")
"""Digests: no function gives the value back, whatever the arguments are."""
_UNSEARCHED = {"string", "binary"}
"""Nested types that may contain text."""
_MOST_NAMED = 3
_FORBIDDEN = "tag:<name>, columns [<name>, …] or pattern '…'"


class ForbidTag(PolicyForm):
    """No column carries the tag (case-insensitive) or derives from one that does, unless masked by
    one of the functions."""

    policy: Literal["forbid_tag"] = "forbid_tag"
    tag: str
    masked_by: tuple[str, ...] = ()

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        tagged = sorted(
            column
            for column, tags in policy_input.facts.tags.items()
            if any(found.lower() == self.tag for found in tags)
        )
        inherited = list(self._inherited(policy_input, set(tagged)))
        if not tagged and not inherited:
            words = f"no column carries the tag {self.tag}"
            return PolicyResult(True, "; ".join([words, *_declared(policy_input)]))
        noun = "column" if len(tagged) == 1 else "columns"
        own = [f"{noun} {', '.join(tagged)} tagged {self.tag}"] if tagged else []
        return PolicyResult(False, "; ".join([*own, *inherited, *_declared(policy_input)]))

    def _inherited(self, policy_input: PolicyInput, tagged: set[str]) -> Iterator[str]:
        """Columns that inherit the tag."""
        travelled = (
            () if policy_input.facts.subject is None else policy_input.facts.subject.travelled
        )
        sources: dict[str, set[str]] = {}
        known: set[str] = set()
        for item in travelled:
            bare = not set(item.through) & set(self.masked_by)
            if bare and item.tag.lower() == self.tag and item.column not in tagged:
                sources.setdefault(item.column, set()).add(item.source)
                known |= set() if item.unknown else {item.column}
        for column in sorted(sources):
            named = _first_few(sorted(sources[column]))
            if column in known:
                yield f"column {column} derives from {named}, tagged {self.tag}"
            else:
                read = f"{named} {'was' if len(sources[column]) == 1 else 'were'} read"
                yield f"column {column} is of unknown lineage: {read}, tagged {self.tag}"

    def __str__(self) -> str:
        masked = f" unless masked by {list_text(self.masked_by)}" if self.masked_by else ""
        return f"forbid tag:{self.tag}{masked}"


def _declared(policy_input: PolicyInput) -> Iterator[str]:
    """Columns whose lineage a person declared."""
    subject = policy_input.facts.subject
    for item in () if subject is None else subject.declared:
        made_of = f"from {' and '.join(item.derived_from)}" if item.derived_from else "clean"
        yield f"column {item.column} is declared {made_of}: {item.reason}"


def _first_few(names: Sequence[str]) -> str:
    """At most three names, and how many more there are."""
    *before, last = names
    if len(names) > _MOST_NAMED:
        before, last = list(names[:_MOST_NAMED]), f"{len(names) - _MOST_NAMED:,} more"
    return f"{', '.join(before)} and {last}" if before else last


class ForbidColumns(PolicyForm):
    """No column or struct field has one of the names; ``*`` is a wildcard."""

    policy: Literal["forbid_columns"] = "forbid_columns"
    names: tuple[str, ...]

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        found = sorted(
            f"{column.name} has a field {name}" if name != column.name else name
            for column in policy_input.facts.declared.columns
            for name in (column.name, *field_names(column.type))
            if any(fnmatchcase(name.lower(), _glob(wanted)) for wanted in self.names)
        )
        if found:
            noun = "column" if len(found) == 1 else "columns"
            return PolicyResult(False, f"{noun} {', '.join(found)} forbidden by name")
        return PolicyResult(True, "no column has a forbidden name")

    def __str__(self) -> str:
        return f"forbid columns {list_text(self.names)}"


class ForbidPattern(PolicyForm):
    """No text contains the pattern: in a sample of the distinct values, or in any row."""

    needs: ClassVar[Needs] = Needs.EVIDENCE
    discards: ClassVar[bool] = True
    policy: Literal["forbid_pattern"] = "forbid_pattern"
    pattern: str
    within: Literal["samples", "values"]

    def measures(self, schema: TableSchema) -> tuple[Measure, ...]:
        columns = (column for column in schema.columns if column.type == "string")
        return tuple(
            self._measure(ColumnRef(name=column.name, type=column.type)) for column in columns
        )

    def _measure(self, column: ColumnRef) -> SampleMatches | CountIf:
        if self.within == "samples":
            return SampleMatches(column=column, pattern=self.pattern)
        return CountIf(condition=holds_pattern(column, self.pattern))

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        found, texts = [], 0
        subject = policy_input.facts.subject
        in_table_only = () if subject is None else subject.by_load
        for column in policy_input.facts.declared.columns:
            if column.type != "string":
                continue
            texts += 1
            measure = self._measure(ColumnRef(name=column.name, type=column.type))
            counted = (
                policy_input.count if column.name in in_table_only else policy_input.count_of_all
            )
            count = counted(measure_key(measure), f"column {column.name}")
            if count:
                found.append(f"{column.name} ({count:,})")
        if found:
            what = "distinct values" if self.within == "samples" else "rows"
            return PolicyResult(False, f"{what} that contain the pattern: {', '.join(found)}")
        unseen = sorted(
            column.name
            for column in policy_input.facts.declared.columns
            if column.type != "string" and _UNSEARCHED & set(leaf_types(column.type))
        )
        tail = f"; not searched: {', '.join(unseen)}" if unseen else ""
        return PolicyResult(True, f"no text in {texts:,} columns contains the pattern{tail}")

    def __str__(self) -> str:
        return f"forbid pattern {quoted(self.pattern)} in {self.within}"


def _glob(name: str) -> str:
    """``*`` is the only wildcard."""
    return re.sub(r"([\[?])", r"[\1]", name.lower())


def _read(cursor: Cursor) -> PolicyForm:
    expect_one_of(cursor, "forbid", "forbid")
    if cursor.token.kind == "label":
        return _tag(cursor)
    word = expect_one_of(cursor, _FORBIDDEN, "columns", "pattern")
    if word == "columns":
        return ForbidColumns(names=expect_list(cursor, "the name of a column"))
    pattern = expect_pattern(cursor, "the pattern may match anywhere in a text")
    expect_one_of(cursor, "in samples or in values", "in")
    within = expect_one_of(cursor, "samples or values", "samples", "values")
    return ForbidPattern.model_validate({"pattern": pattern, "within": within})


def _tag(cursor: Cursor) -> ForbidTag:
    prefix, _, tag = cursor.token.value.partition(":")
    if prefix.lower() != "tag":
        raise cursor.error(f"{_FORBIDDEN} expected", hint=nearest(prefix, ["tag"]))
    if not _TAG.match(tag):
        raise cursor.error("a tag starts with a letter and has letters, digits, _ - .")
    cursor.advance()
    masked: tuple[str, ...] = ()
    if cursor.take_word("unless"):
        for word in ("masked", "by"):
            expect_one_of(cursor, word, word)
        start = cursor.token
        masked = tuple(name.lower() for name in expect_list(cursor, "the name of a function"))
        for name in masked:
            if name not in MASKING_FUNCTIONS:
                message = f"{name[:64]} does not mask: use {', '.join(MASKING_FUNCTIONS)}"
                raise cursor.refuse(start, message)
    return ForbidTag(tag=tag.lower(), masked_by=tuple(sorted(set(masked))))


PII = PolicyKind(
    type=PolicyType.PII,
    summary="Where personal data must not be.",
    read=_read,
    forms=(
        FormReference(
            form="forbid tag:<tag> [unless masked by [<function>, …]]",
            example="forbid tag:pii unless masked by [sha1, sha2]",
            meaning=(
                "No column carries the tag (case-insensitive) or derives from a column that "
                "does. Values that passed through one of the functions are masked and do not "
                f"carry the tag. Masking functions are {', '.join(MASKING_FUNCTIONS)}; others, "
                "such as `upper` or `mask` with arguments, can leave the value as it is, or give "
                "it back: `hash` of a number, `count` over `explode(sequence(1, n))`."
            ),
            violated=(
                "a declared column carries the tag, or derives from one that does, directly "
                "or through other datasets."
            ),
        ),
        FormReference(
            form="forbid columns [<name>, …]",
            example="forbid columns ['e-mail', 'pass*', ssn]",
            meaning=(
                "No column or struct field has one of the names. `*` is a wildcard; case is "
                "ignored."
            ),
            violated="a declared column or one of its fields has such a name.",
        ),
        FormReference(
            form="forbid pattern '<pattern>' in samples|values",
            example="forbid pattern '[0-9]{3}-[0-9]{2}-[0-9]{4}' in samples",
            meaning=(
                "No text contains the pattern, neither as it is stored nor with every character "
                "in its NFKC form and without characters that cannot be seen (control characters "
                "other than tab and line ends, format characters, all that Unicode has programs "
                "ignore, blank ones): full-width digits or zero-width joiners hide nothing. "
                "`samples` searches 10,000 distinct "
                "values of every string column of the batch, chosen deterministically; "
                "`values` searches every row. Evidence records counts, never values. Texts "
                "inside nested columns and binary values are not searched; the result names "
                "these columns. Quarantined rows are searched too."
            ),
            violated=(
                "a value contains it. Everything the run wrote is then deleted at once rather "
                "than retained for inspection: staged files, quarantined rows, copies of "
                "received data."
            ),
            judged=f"{Needs.EVIDENCE}.",
        ),
    ),
)
