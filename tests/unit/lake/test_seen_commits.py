"""A commit is taken as read only while it has the mark under which it was read."""

from __future__ import annotations

from lakeguard.lake.seen_commits import SeenCommit, SeenCommits
from lakeguard_sdk.storage.location import FileMark

MARK = FileMark("etag", 10, 1)
COMMIT = SeenCommit.of(b'{"add":{}}')


def test_another_mark_is_another_commit() -> None:
    seen = SeenCommits()
    seen.add("0.json", MARK, COMMIT)
    assert seen.find("0.json", MARK) == COMMIT
    assert seen.find("1.json", MARK) is None
    for other in (
        MARK._replace(identity="other"),
        MARK._replace(size=11),
        MARK._replace(changed_ns=2),
    ):
        assert seen.find("0.json", other) is None


def test_a_mark_without_identity_proves_nothing() -> None:
    seen = SeenCommits()
    mark = MARK._replace(identity="")
    seen.add("0.json", mark, COMMIT)
    assert seen.find("0.json", mark) is None


def test_the_least_recently_used_is_forgotten() -> None:
    seen = SeenCommits(most=2)
    for name in ("a", "b"):
        seen.add(name, MARK, COMMIT)
    seen.find("a", MARK)
    seen.add("c", MARK, COMMIT)
    assert seen.find("a", MARK) == COMMIT
    assert seen.find("c", MARK) == COMMIT
    assert seen.find("b", MARK) is None


def test_only_commits_that_set_the_schema_are_held() -> None:
    body = b'{"metaData":{}}'
    assert SeenCommit.of(body).with_schema == body
    assert COMMIT.with_schema is None
