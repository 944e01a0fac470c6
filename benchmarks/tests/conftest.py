# SPDX-License-Identifier: MIT
"""The suite is no distribution: it is imported from the root of the repository."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
