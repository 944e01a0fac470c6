# SPDX-License-Identifier: MIT
"""examples/conduit against its own OpenAPI document: schemathesis on two databases."""

from __future__ import annotations

from pathlib import Path

import conduit_served
import pytest
import schemathesis_run
from conduit_clients import register

pytestmark = [pytest.mark.once, pytest.mark.slow]

# The only reasons to reject data that the document allows.
HOOKS = """

@schemathesis.check
def valid_data_is_refused_only_for_what_is_there(ctx, response, case):
    if case.meta.generation.mode.is_positive and response.status_code == 422:
        (message,) = response.json()["errors"]["body"]
        assert message.endswith((" has already been taken", "can't follow yourself")), message
"""
# Exceptions that the document can't express: names that are taken and following oneself are
# rejected; a new title moves an article to another URL; and for methods other than GET, the path of
# the feed is that of an article that doesn't exist.
CONFIGURATION = """
hooks = "hooks"

[generation]
max-examples = 5

[phases.stateful]
max-steps = 10

[phases.stateful.generation]
max-examples = 8

[[operations]]
include-name = ["POST /api/users", "PUT /api/user", "POST /api/profiles/{username}/follow"]

[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", 401, 403, 404, 422]

[[operations]]
include-path-regex = "^/api/articles/.slug."

[operations.checks.ensure_resource_availability]
enabled = false

[[operations]]
include-path = "/api/articles/feed"

[operations.checks.allow_header_conformance]
enabled = false
"""


@pytest.mark.parametrize(
    "conduit", [setup for setup in conduit_served.SETUPS if setup.endswith("-1")], indirect=True
)
def test_schemathesis_finds_nothing(conduit: conduit_served.Conduit, tmp_path: Path) -> None:
    (user,) = register(conduit, ["schema"])
    printed = len(conduit.printed())
    said = schemathesis_run.run(
        tmp_path,
        conduit.url.removesuffix("/api"),
        f"--header=Authorization: Token {user.token}",
        configuration=CONFIGURATION,
        hooks=HOOKS,
    )
    for phase in ("Coverage", "Fuzzing", "Stateful"):
        assert phase in said
    assert "Traceback" not in conduit.printed()[printed:]
