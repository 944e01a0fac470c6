# SPDX-License-Identifier: MIT
"""examples/conduit with cheap password hashes."""

from __future__ import annotations

import sys
from pathlib import Path

from argon2 import PasswordHasher

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "conduit"))

from conduit import passwords

passwords.hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

from app import app  # noqa: E402

__all__ = ["app"]
