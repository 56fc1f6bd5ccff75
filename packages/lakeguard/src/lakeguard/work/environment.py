"""What the process of a job sees of its worker's surroundings: what is named here, and no more."""

from __future__ import annotations

from collections.abc import Mapping

from lakeguard_sdk.dispatch import Assignment

PASSED = (
    "HOME", "JAVA_HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SSL_CERT_DIR", "SSL_CERT_FILE",
    "TMPDIR", "TZ", "USER",
)  # fmt: skip
PASSED_PREFIX = "LC_"
OWN_PREFIX = "LAKEGUARD_JOB_"


def job_environment(assignment: Assignment, surroundings: Mapping[str, str]) -> dict[str, str]:
    """Variables by name from a short list, and what the attempt is; no secret and no address."""
    passed = {
        name: value
        for name, value in surroundings.items()
        if name in PASSED or name.startswith(PASSED_PREFIX)
    }
    ticket = assignment.ticket
    told = {
        "NAME": str(assignment.job or ""),
        "TASK": ticket.task_id,
        "RUN": ticket.run_id,
        "ATTEMPT": str(ticket.attempt),
        "DATE": assignment.parameters.get("date", ""),
    }
    return passed | {OWN_PREFIX + name: value for name, value in told.items() if value}
