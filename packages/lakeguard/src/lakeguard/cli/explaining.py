"""Gathering what ``why`` tells: the decision, and what changed since the last green run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lakeguard.cli.waiver_ways import waiver_ways
from lakeguard.cli.ways_out import WayOut, schema_ways, ways_out_of
from lakeguard_sdk.decision import Decision
from lakeguard_sdk.evidence import InputVersion
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.ports import Reader
from lakeguard_sdk.reading import RunFacts, RunRow, VersionRow


class Difference(Noun):
    """One thing that the ledger knows to differ between the last green run and this one."""

    what: str
    before: str
    after: str


@dataclass(frozen=True)
class Explanation:
    """All that is known of how a run ended."""

    run: RunRow
    decision: Decision | None
    published: int | None
    green: VersionRow | None
    differences: tuple[Difference, ...]
    ways_out: tuple[WayOut, ...]
    facts: RunFacts | None = None

    def to_data(self) -> dict[str, object]:
        return {
            "run": self.run.to_data(),
            "decision": self.decision.to_data() if self.decision else None,
            "published": self.published,
            "last_green": self.green.to_data() if self.green else None,
            "differences": [item.to_data() for item in self.differences],
            "ways_out": [item.to_data() for item in self.ways_out],
            "facts": self.facts.to_data() if self.facts else None,
        }


def explain(reader: Reader, run: RunRow) -> Explanation:
    """Explains one run against the last version that was promoted before it ended."""
    published = {item.dataset.dataset_name: item.published for item in reader.status()}
    decision = reader.decision(run.run_id) if run.decision_id is not None else None
    green = _last_green(reader, run)
    read = {item.dataset: _shown_at(reader, item, run) for item in green.inputs} if green else {}
    current = {name: version for name, version in read.items() if published.get(name) == version}
    return Explanation(
        run=run,
        decision=decision,
        published=published.get(run.dataset),
        green=green,
        differences=tuple(_differences(reader, decision, green, read)),
        ways_out=(
            *schema_ways(decision),
            *ways_out_of(run, green, current, reader.definition(run.dataset)),
            *waiver_ways(decision),
        ),
        facts=reader.facts(run.run_id),
    )


def _last_green(reader: Reader, run: RunRow) -> VersionRow | None:
    earlier = [
        version
        for version in reader.versions(run.dataset)
        if version.promoted_at <= run.end_time and version.run_id != run.run_id
    ]
    return max(earlier, key=lambda version: version.version, default=None)


def _shown_at(reader: Reader, item: InputVersion, run: RunRow) -> int | None:
    """The version of an input that was published when the run opened: the one it read."""
    moves = reader.pointer_moves(item.dataset)
    before = [move for move in moves if move.moved_at <= run.start_time]
    return before[-1].version if before else None


def _differences(
    reader: Reader,
    decision: Decision | None,
    green: VersionRow | None,
    read: Mapping[DatasetName, int | None],
) -> Iterator[Difference]:
    if green is None:
        return
    if decision is not None:
        before, after = reader.decision(green.run_id).case, decision.case
        if before.ruleset != after.ruleset:
            yield Difference(what="rules", before=short(before.ruleset), after=short(after.ruleset))
        if before.policies != after.policies:
            yield Difference(
                what="policies", before=short(before.policies), after=short(after.policies)
            )
    for item in green.inputs:
        version = read[item.dataset]
        if version != item.version:
            yield Difference(
                what=f"input {item.dataset}",
                before=f"v{item.version}",
                after="not published" if version is None else f"v{version}",
            )


def short(hash_text: str) -> str:
    """The first twelve digits of a content hash."""
    return hash_text.removeprefix("sha256:")[:12]
