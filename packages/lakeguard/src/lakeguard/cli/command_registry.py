"""All commands, in the order a new user needs them. Only the called one is imported."""

from __future__ import annotations

from importlib import import_module

import click

COMMANDS: dict[str, str] = {
    "init": "Create a project folder, empty or with an example.",
    "source": "Add a source from its files, or list sources.",
    "adopt": "Turn an existing Delta table into a governed dataset.",
    "validate": "Check the definitions; needs no database and no Java.",
    "plan": "Show what apply would change.",
    "apply": "Apply definitions to the registry, in one transaction.",
    "load": "Load definitions from table rows, atomically.",
    "export": "Export the registry as definition files or table rows.",
    "run": "Build datasets and publish what the gate allows.",
    "backfill": "Rebuild a window, or partitions, of a dataset.",
    "invalidations": "What has to be rebuilt, and what has caught up.",
    "deploy": "Activate the graph of datasets and jobs, or roll it back.",
    "jobs": "List jobs, switch them on or off, or start one.",
    "tasks": "List tasks, retry or cancel one, show its log.",
    "worker": "Claim and run queued tasks.",
    "dispatcher": "Start jobs when due, retry failures, reap dead attempts.",
    "serve": "Serve the control plane over HTTP.",
    "runs": "List runs, newest first.",
    "status": "One line per dataset, worst first.",
    "search": "Find datasets by name, owner, tags, columns and description.",
    "why": "Explain the last decision on a dataset, or on a run.",
    "show": "Show everything about one dataset.",
    "versions": "List the versions of a dataset and their inputs.",
    "profile": "Profile the values of a version, column by column.",
    "suggest": "Suggest rules from published data, with evidence.",
    "quarantine": "List, show, replay or discard quarantined rows.",
    "schema": "Compare the schemas that runs found, and approve one.",
    "rollback": "Publish an earlier version again.",
    "undo": "Put a table back after somebody else changed it.",
    "waive": "Downgrade a failing rule or alert to a warning until a date.",
    "waivers": "List waivers, or revoke one.",
    "records": "Show metadata records and their kinds; check a file of them.",
    "notifications": "List alerts and events, send pending ones, test a channel.",
    "alerts": "List alerts, send pending ones, test a channel.",
    "events": "List events, send pending ones, test a channel.",
    "replay": "Repeat recorded decisions, or rebuild a run.",
    "diff": "Compare two runs, or two versions.",
    "backtest": "Test draft rules against past runs.",
    "maintain": "Compact small files and remove unreferenced ones.",
    "verify": "Prove that database, ledger and tables agree.",
    "audit": "List who did what, prove that the record was not changed.",
    "sync": "Write pending rows to the ledger on the lake.",
    "rebuild": "Rebuild the database from the ledger on the lake.",
    "migrate": "Create or update the tables of the database, as its owner.",
    "org": "List organisations, create or revoke one.",
    "user": "List users, create or revoke one.",
    "role": "List roles of users, grant or revoke one.",
    "token": "List service tokens, create, rotate or revoke one.",
    "doctor": "Check the installation; show how to fix what is missing.",
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
    "serve": "operate.serve",
    "runs": "inspect.runs",
    "versions": "inspect.versions",
    **dict.fromkeys(("status", "show", "profile"), "inspect.show"),
    "search": "inspect.search",
    "why": "inspect.why",
    "suggest": "define.suggest",
    "records": "inspect.records",
    "quarantine": "build.quarantine",
    "schema": "define.schema",
    **dict.fromkeys(("rollback", "undo"), "build.rollback"),
    **dict.fromkeys(("waive", "waivers"), "build.waivers"),
    **dict.fromkeys(("notifications", "alerts", "events"), "operate.notifications"),
    "replay": "inspect.replay",
    "diff": "inspect.diff",
    "backtest": "inspect.backtest",
    "maintain": "build.maintain",
    **dict.fromkeys(("verify", "sync", "rebuild"), "operate.ledger"),
    "audit": "operate.audit",
    "migrate": "operate.migrate",
    **dict.fromkeys(("org", "user", "role"), "operate.identity"),
    "token": "operate.service_tokens",
    "doctor": "operate.doctor",
}
"""Where each command is defined, as ``<name>_command``, below ``cli/commands``."""


class Catalogue(click.Group):
    """Lists commands without importing them, so help stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"lakeguard.cli.commands.{_MODULES[cmd_name]}")
        command = getattr(module, f"{cmd_name}_command")
        assert isinstance(command, click.Command)  # noqa: S101 - for the type checker
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggests the closest command for an unknown one."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            raise click.UsageError(f"unknown command {name!r}{nearest(name)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def nearest(name: str) -> str:
    from difflib import get_close_matches

    found = get_close_matches(name, COMMANDS, n=1)
    return f"; did you mean {found[0]}?" if found else ""
