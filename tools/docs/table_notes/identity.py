"""Notes on users' status, grants, service tokens and the access log."""

from __future__ import annotations

from tools.docs.table_notes.note import Family, Invariant, TableNote

_GRANTS = "tests/contract/identity/test_grants.py"
_TOKENS = "tests/contract/identity/test_service_tokens.py"
_LEDGER = "tests/contract/identity/test_identity_ledger.py"
_ACCESS = "tests/contract/identity/test_authorised_client.py"

IDENTITY_NOTES: dict[str, TableNote] = {
    "identity_states": TableNote(
        Family.OURS,
        "That a user or an organisation was created, disabled or enabled again, or a service token"
        " got another secret.",
        (
            Invariant(
                "The row of a subject with the highest `number` counts, whatever the clock said;"
                " without one it is active.",
                constraints=(
                    "identity_states_pkey",
                    "ck_identity_states_kind",
                    "uq_identity_states_number",
                ),
                tests=(
                    f"{_GRANTS}::test_a_disabled_user_may_nothing_until_enabled",
                    f"{_GRANTS}::test_a_clock_that_was_wrong_brings_nobody_back",
                ),
            ),
        ),
    ),
    "role_grants": TableNote(
        Family.OURS,
        "A role that a user was granted on the organisation, a domain, a layer or a dataset. A"
        " dataset stands under its id, so that the grant follows a rename.",
        (
            Invariant(
                "A grant holds until it is in `access_revocations`.",
                constraints=("role_grants_pkey", "ck_role_grants_role", "ck_role_grants_namespace"),
                tests=(f"{_GRANTS}::test_a_grant_holds_until_it_is_revoked",),
            ),
        ),
    ),
    "service_tokens": TableNote(
        Family.OURS,
        "Tokens of programs: name, allowed actions, namespaces and expiry, without any secret.",
        (
            Invariant(
                "A name is given once per organisation.",
                constraints=("service_tokens_pkey", "uq_service_tokens_name"),
                tests=(f"{_TOKENS}::test_a_name_is_given_once",),
            ),
            Invariant(
                "After a rebuild a token has no secret and is refused until it is rotated.",
                tests=(f"{_LEDGER}::test_a_rebuild_keeps_users_and_grants_and_no_secrets",),
            ),
        ),
    ),
    "service_token_secrets": TableNote(
        Family.OURS,
        "The secrets of service tokens as keyed hashes; a rotation adds one and ends the others.",
        (
            Invariant(
                "A secret is known by its hash under the key of the environment alone.",
                constraints=("service_token_secrets_pkey", "service_token_secrets_token_id_fkey"),
                tests=(f"{_TOKENS}::test_a_secret_is_shown_once_and_stored_as_a_keyed_hash",),
            ),
        ),
        not_in_lake="No secret and no hash of one leaves the database.",
    ),
    "access_revocations": TableNote(
        Family.OURS,
        "Grants and service tokens that were revoked, by whom and why.",
        (
            Invariant(
                "A revocation is final: what is needed again is granted or made again.",
                constraints=("pk_access_revocations", "ck_access_revocations_kind"),
                tests=(f"{_GRANTS}::test_a_grant_holds_until_it_is_revoked",),
            ),
        ),
    ),
    "access_log": TableNote(
        Family.OURS,
        "Calls of users, service tokens and tasks: each refused one, each one that changes"
        " something, and each that shows personal values. Calls of the local user of a folder are"
        " not in it: the facts that they write name the user.",
        (
            Invariant(
                "A row names exactly one principal.",
                constraints=("access_log_pkey", "ck_access_log_principal", "ck_access_log_reason"),
                tests=(f"{_ACCESS}::test_each_access_names_one_principal",),
            ),
        ),
    ),
}
