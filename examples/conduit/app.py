# SPDX-License-Identifier: MIT
"""Conduit, a blogging API with users, articles, comments and tags.

    kit serve examples/conduit

`conduit/settings.py` describes the environment variables.
"""

from __future__ import annotations

import os

from conduit.application import create_app
from conduit.settings import Settings

app = create_app(Settings.from_environ(os.environ))
