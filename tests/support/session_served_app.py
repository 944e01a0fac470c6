# SPDX-License-Identifier: MIT
"""The shop with sessions in memory, for servers that call no factories."""

from __future__ import annotations

from session_app import in_memory

app = in_memory()
