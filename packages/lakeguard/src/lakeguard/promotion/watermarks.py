"""How far the published version had read by its watermark, if it is still the same one."""

from __future__ import annotations

from lakeguard.ledger.versions import Pointer
from lakeguard.promotion.eligibility import Findings
from lakeguard.registry.store import RegisteredDataset
from lakeguard_sdk.evidence import SourcePosition
from lakeguard_sdk.run import Build, SourceBuild
from lakeguard_sdk.watermarks import watermark_subject
from lakeguard_sdk.words import LoadType, SourceFormat


def known_watermark(
    dataset: RegisteredDataset,
    build: Build | None,
    position: SourcePosition | None,
    published: Pointer | None,
    findings: Findings,
) -> str | None:
    """The value to go on from. An APPEND that has none would have every row twice: refused."""
    load = dataset.definition.load
    if build is None or not load.watermark:
        return None
    subject = watermark_subject(build, load.watermark)
    if position is not None and position.watermark_of == subject:
        return position.watermark
    by_files = isinstance(build, SourceBuild) and build.format is not SourceFormat.JDBC
    if published is not None and load.type is LoadType.APPEND and not load.keys and not by_files:
        findings.refuse(
            "watermark",
            f"v{published.version} does not say how far {load.watermark} was read, so that it is"
            " not known which rows are new; set load type FULL for the next run",
        )
    return None
