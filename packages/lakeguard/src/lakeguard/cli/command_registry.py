"""The commands, in the order of a first hour. Only the one that is called is imported."""

from __future__ import annotations

from importlib import import_module

import click

COMMANDS: dict[str, str] = {
    "init": "Make the folder of a lake, empty or with an example.",
    "source": "Add a source by looking at its files, or list what is there.",
    "adopt": "Make a Delta table that is there already a governed dataset.",
    "validate": "Check the definitions alone: no database, no Java.",
    "plan": "Show what apply would change.",
    "apply": "Make the definitions the registry's, in one transaction.",
    "load": "Make rows of definition tables the registry's, all or none.",
    "export": "Write all that is registered as files, or as table rows.",
    "run": "Build datasets and publish what the gate allows.",
    "backfill": "Build a window, or partitions, of a dataset again.",
    "invalidations": "What has to be built again, and who has caught up.",
    "deploy": "Make the graph of what is defined active, or go back.",
    "jobs": "What each job does and when; switching, and starting one.",
    "tasks": "What waits, runs or failed; trying again, or canceling.",
    "worker": "Take tasks that are due, and run each to its end.",
    "dispatcher": "Start jobs when they are due, and end what died.",
    "runs": "List what ran, newest first.",
    "status": "One line per dataset, worst first.",
    "why": "Explain the last decision on a dataset, or on a run.",
    "show": "Everything known of one dataset.",
    "versions": "The versions of a dataset and what they were built from.",
    "profile": "What the values of a version look like, column by column.",
    "suggest": "Draft rules from what is published, with evidence for each.",
    "quarantine": "Rows that rules kept out: list, look, send again, discard.",
    "schema": "What schemas runs found, how they differ, and approving one.",
    "rollback": "Publish an earlier version again.",
    "waive": "Let a failing rule, or an alert, be a warning for a time.",
    "waivers": "What is waived, by whom and until when; or take one back.",
    "alerts": "What somebody should hear of; sending it, trying a channel.",
    "events": "What other systems hear of; sending it, and trying a channel.",
    "replay": "Decide recorded runs again, or build one again.",
    "diff": "Two runs, or two versions, side by side.",
    "backtest": "What a draft of rules would have made of past runs.",
    "maintain": "Merge small files, and remove those that nothing needs.",
    "verify": "Prove that database, ledger and tables agree.",
    "sync": "Bring the ledger on the lake up to date.",
    "rebuild": "Fill an empty database from the ledger on the lake.",
    "doctor": "What is there, what is missing, the command that fixes it.",
}

_MODULES = {
    "init": "define.init",
    "source": "define.source",
    "adopt": "define.adopt",
    **dict.fromkeys(("validate", "plan", "apply"), "define.plan"),
    **dict.fromkeys(("load", "export"), "define.tables"),
    "run": "build.run",
    "backfill": "build.backfill",
    "invalidations": "build.invalidations",
    "deploy": "operate.deploy",
    "jobs": "operate.jobs",
    "tasks": "operate.tasks",
    "worker": "operate.worker",
    "dispatcher": "operate.dispatcher",
    **dict.fromkeys(("runs", "versions"), "inspect.versions"),
    **dict.fromkeys(("status", "show", "profile"), "inspect.show"),
    "why": "inspect.why",
    "suggest": "define.suggest",
    "quarantine": "build.quarantine",
    "schema": "define.schema",
    "rollback": "build.rollback",
    **dict.fromkeys(("waive", "waivers"), "build.waivers"),
    "alerts": "operate.alerts",
    "events": "operate.events",
    "replay": "inspect.replay",
    "diff": "inspect.diff",
    "backtest": "inspect.backtest",
    "maintain": "build.maintain",
    **dict.fromkeys(("verify", "sync", "rebuild"), "operate.ledger"),
    "doctor": "operate.doctor",
}
"""Where each command is defined, as ``<name>_command``, below ``cli/commands``."""


class Catalogue(click.Group):
    """Lists every command without importing any, so that help is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"lakeguard.cli.commands.{_MODULES[cmd_name]}")
        command = getattr(module, f"{cmd_name}_command")
        assert isinstance(command, click.Command)  # noqa: S101 - a promise to the type checker
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """An unknown command is refused with the nearest right one."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            raise click.UsageError(f"there is no command {name!r}{nearest(name)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def nearest(name: str) -> str:
    from difflib import get_close_matches

    found = get_close_matches(name, COMMANDS, n=1)
    return f"; did you mean {found[0]}?" if found else ""
