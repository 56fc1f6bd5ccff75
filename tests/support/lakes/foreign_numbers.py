"""Commits with a number of a move that nobody gave, and others that look like one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from lakeguard_sdk.model.delta_log import PUBLISH_APP
from tests.support.lakes.log_entries import (
    actions_of,
    commit_file,
    foreign_commit,
    head_of,
    next_commit,
)


def _number(version: int) -> dict[str, Any]:
    """The action by which commits of LakeGuard carry the number of their move."""
    return {"appId": PUBLISH_APP, "version": version}


def next_number(log: Path, number: int) -> None:
    next_commit(log).write_text(foreign_commit(txn=_number(number)))


def number_of_an_application(log: Path) -> None:
    """As streams of Spark write it: no damage."""
    next_commit(log).write_text(foreign_commit(txn={"appId": "a stream", "version": head_of(log)}))


def domain_metadata(log: Path) -> None:
    """No damage: it says nothing about rows."""
    domain = {"domain": "somebody.else", "configuration": "{}", "removed": False}
    next_commit(log).write_text(foreign_commit(domainMetadata=domain))


def number_far_ahead(log: Path) -> None:
    next_commit(log).write_text(foreign_commit(txn=_number(999)))


def number_set_back(log: Path) -> None:
    next_commit(log).write_text(foreign_commit(txn=_number(1)))


def number_set_back_by_a_copy(log: Path) -> None:
    shutil.copy(commit_file(log, 1), next_commit(log))


def number_with_other_commits(log: Path) -> None:
    metadata = actions_of(log, 0, "metaData")
    next_commit(log).write_text(foreign_commit(txn=_number(999)))
    next_commit(log).write_text(foreign_commit(metaData={**metadata, "configuration": {}}))


def two_numbers(log: Path) -> None:
    lines = (foreign_commit(txn=_number(number)) for number in (4, 999))
    next_commit(log).write_text("\n".join(lines))


def repeated_key(log: Path) -> None:
    """Engines read different application ids."""
    ours, other = json.dumps(_number(999)), '{"appId":"x",'
    next_commit(log).write_text('{"txn":' + ours.replace("{", other) + "}")
