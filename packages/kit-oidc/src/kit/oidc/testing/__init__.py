# SPDX-License-Identifier: MIT
"""A provider for tests, in process: users log in without a browser, and without a network.

async def test_me():
with TestProvider(login) as provider:
async with test_client(app) as client:
await provider.log_in(client, {"sub": "ann", "name": "Ann"})
response = await client.get("/me")
assert response.status == 200
"""

from ._faults import Faults
from ._keys import TestKey
from ._provider import TestProvider

__all__ = ("Faults", "TestKey", "TestProvider")

# Public classes show the module that they are imported from.
for _class in (Faults, TestKey, TestProvider):
    _class.__module__ = __name__
