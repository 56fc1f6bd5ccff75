"""What a report may say. Pure: what is known of the attempt is an argument."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from lakeguard_sdk.canonical import data_hash
from lakeguard_sdk.dispatch import Output, TaskReport
from lakeguard_sdk.errors import NoteRefused, ReportRefused
from lakeguard_sdk.notes import checked_notes
from lakeguard_sdk.run import Failure, RunTicket
from lakeguard_sdk.secret_values import address_holds_secret, masked

LONGEST_LOCATION = 300
LONGEST_MESSAGE = 8_000
MOST = 2**63 - 1
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,39}\Z", re.ASCII)


def checked_report(ticket: RunTicket, report: TaskReport) -> TaskReport:
    """The report as it will be kept and shown; ``ReportRefused`` for one that nobody may send."""
    problem = next(_problems(report), None)
    if problem is not None:
        raise ReportRefused(run=ticket.run_id, reason=problem)
    try:
        notes = checked_notes({name: output.notes for name, output in report.outputs.items()})
    except NoteRefused as refusal:
        raise ReportRefused(run=ticket.run_id, reason=refusal.fields["reason"]) from None
    outputs = {
        name: output.model_copy(update={"notes": notes[name]})
        for name, output in report.outputs.items()
    }
    error = None if report.error is None else _shown(report.error)
    return report.model_copy(update={"outputs": outputs, "error": error})


def report_hash(ticket: RunTicket, report: TaskReport) -> str:
    """The same for the same report with the same ticket, and for no other: who has it was there."""
    return data_hash({"report": report.to_data(), "ticket": ticket.to_data()})


def outputs_problem(report: TaskReport, expected: Collection[str]) -> str | None:
    """Why what a success brings is not what the job promises."""
    if not report.success:
        return None
    lacking = sorted(set(expected) - set(report.outputs))
    if lacking:
        return f"a success brings {', '.join(lacking)} too"
    strange = sorted(set(report.outputs) - set(expected))
    return f"the job promises no output {', '.join(strange)}" if strange else None


def _problems(report: TaskReport) -> Iterator[str]:
    if report.success and report.error is not None:
        yield "a success has no error"
    if not report.success and report.error is None:
        yield "a failure says why, with a code and a message"
    if not report.success and report.outputs:
        yield "a failure brings no outputs"
    if report.error is not None and not _CODE.match(report.error.code):
        yield "an error's code has 1 to 40 letters, digits and marks of _ . : / -"
    for name, output in report.outputs.items():
        yield from (f"the output {name}: {problem}" for problem in _problems_of(output))


def _problems_of(output: Output) -> Iterator[str]:
    location = output.location
    if location is not None and not (location.isprintable() and location.strip()):
        yield "a location is one line of text"
    if location is not None and len(location) > LONGEST_LOCATION:
        yield f"a location has at most {LONGEST_LOCATION} characters"
    if location is not None and address_holds_secret(location):
        yield "its location looks like it holds a secret"
    if max(output.rows or 0, output.bytes or 0) > MOST:
        yield "rows and bytes are numbers below 2**63"


def _shown(error: Failure) -> Failure:
    """Told by a stranger: no secret, no NUL, and no longer than anybody reads."""
    lines = [
        masked(line)
        for line in error.message.replace("\0", "\N{REPLACEMENT CHARACTER}").split("\n")
    ]
    message = "\n".join(lines)
    if len(message) > LONGEST_MESSAGE:
        message = message[: LONGEST_MESSAGE - 1] + "…"
    return error.model_copy(update={"message": message})
