"""Two organisations of one State, each with a service that asks who is there, and users with every
role in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import select

from lakeguard.http.app import create_app
from lakeguard.http.listen_address import parse_place
from lakeguard.http.listener import listen, serving
from lakeguard.plane import open_state
from lakeguard.service_plane import open_service
from lakeguard.settings import load_settings
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.tables.metadata import metadata
from lakeguard_sdk import Client, DatasetName, connect
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.definitions import Definitions, JobDefinition
from tests.support.fakes.issuer import AUDIENCE, Issuer, issuing
from tests.support.lakes.quarantined_by_hand import RULES, definitions
from tests.support.projects.definitions import rule
from tests.support.projects.jobs import JOB, python_job
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import copy_state, settings_text

ROLES = ("viewer", "engineer", "steward", "admin")
ELSEWHERE = "elsewhere"
"""The role of an admin of a domain without datasets."""
OURS, THEIRS = "dev", "theirs"
"""The environments of the two organisations, ``default`` and ``others``."""
ORGANISATIONS = {OURS: "default", THEIRS: "others"}
ALIEN = DatasetName("bronze.zebra")
"""The dataset of the others; ours is ``NUMBERS``."""
PRESENT = "present"
"""The id of a rule that blocks."""
_IDENTITY = """
[env.{env}.service]
requests_per_minute = 1_000_000
refused_tokens_per_minute = 1_000_000

[env.{env}.identity]
issuer = "{issuer}"
audience = "{audience}"
roles_claim = "groups"
roles = {{ {roles} }}
"""


@dataclass
class ServedRoles:
    folder: Path
    issuer: Issuer
    urls: dict[str, str] = field(default_factory=dict)

    def bearer(self, role: str, user: str = "") -> dict[str, str]:
        """The header of a user with this role, and no other."""
        token = self.issuer.token(user or f"{role}@example.org", groups=[role])
        return {"Authorization": f"Bearer {token}"}

    def client(self, role: str, env: str = OURS) -> httpx.Client:
        return httpx.Client(base_url=self.urls[env], headers=self.bearer(role), timeout=30)

    def whole(self, env: str = OURS) -> Client:
        """Not over HTTP, and bound by no role."""
        return connect(self.folder, env=env)

    def rows(self, env: str) -> dict[str, list[str]]:
        """Every row of the organisation, by table."""
        settings = load_settings(self.folder, env)
        state = OrganisationState.of(open_state(settings), settings.organisation)
        with state.read() as tx:
            return {
                table.name: sorted(
                    str(tuple(row))
                    for row in tx.execute(select(table).where(table.c.org_id == tx.org_id))
                )
                for table in metadata.sorted_tables
            }


def organisation_definitions(name: DatasetName, job: str, **given: Any) -> Definitions:
    """A dataset that quarantines rows, the job that builds it, and a job without a dataset."""
    present = rule("not_null(n)", rule_id=PRESENT)
    found = definitions(LoadType.FULL, dataset=name, rules=(*RULES, present), **given)
    jobs = (python_job(job), JobDefinition(job=f"{job}_build", dataset=name))
    return found.model_copy(update={"jobs": jobs})


@contextmanager
def served_roles(folder: Path) -> Iterator[ServedRoles]:
    """On the kind of State that ``states_of`` says."""
    with ExitStack() as stack:
        issuer = stack.enter_context(issuing())
        _write_settings(folder, issuer)
        served = ServedRoles(folder, issuer)
        for env, name, job in ((OURS, NUMBERS, JOB), (THEIRS, ALIEN, "zoo")):
            client = connect(folder, env=env)
            client.registry.apply(client.registry.plan(organisation_definitions(name, job)))
            client.jobs.deploy("tests")
            service = open_service(str(folder), parse_place("127.0.0.1:0"), env=env, tokens=True)
            listener = stack.enter_context(serving(create_app(service), listen(service)))
            served.urls[env] = listener.url
        yield served


def _write_settings(folder: Path, issuer: Issuer) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    state = settings_text(folder).removeprefix(f"[env.{OURS}]\n")
    granted = {role: role for role in ROLES} | {ELSEWHERE: "admin domain:elsewhere"}
    roles = ", ".join(f'{name} = "{grant}"' for name, grant in granted.items())
    text = ""
    for env, organisation in ORGANISATIONS.items():
        text += f'[env.{env}]\norganisation = "{organisation}"\nlake = "lake-{env}"\n{state}'
        text += _IDENTITY.format(env=env, issuer=issuer.url, audience=AUDIENCE, roles=roles)
    (folder / "lakeguard.toml").write_text(text)
    copy_state(folder)
