"""What the log itself says about an intent: the only witness of a commit."""

from __future__ import annotations

from lakeguard_sdk.commits import carries_out, commit_kind, read_commit
from lakeguard_sdk.errors import BaseMoved, CommitMismatch
from lakeguard_sdk.run import Intent
from lakeguard_sdk.storage import Storage


def confirm(intent: Intent, version: int, storage: Storage, error: Exception | None) -> None:
    """Raises unless ``version`` is this intent's commit with exactly its adds and removes."""
    commit = read_commit(storage, intent.location, version)
    if commit is None:
        told = str(error).splitlines()[0] if error and str(error) else "no reason was told"
        raise CommitMismatch(
            dataset=intent.dataset, commit=version, difference=f"it was not written ({told})"
        )
    if not carries_out(commit, intent, commit_kind(intent)):
        raise BaseMoved(
            dataset=intent.dataset,
            expected=f"commit {version} to be move {intent.seq}",
            found=f"{commit.operation or 'a commit'} of somebody else",
        )
    for word, found, wanted in (
        ("adds", commit.adds, tuple(file.path for file in intent.adds)),
        ("removes", commit.removes, intent.removes),
    ):
        if sorted(found) != sorted(wanted):
            odd = min({*found} ^ {*wanted}, default="the same file twice")
            raise CommitMismatch(
                dataset=intent.dataset, commit=version, difference=f"it {word} other files: {odd}"
            )
