# SPDX-License-Identifier: MIT
"""examples/conduit on Kit and on FastAPI, with the same tables, statements and passwords."""

from __future__ import annotations

import sys

from ..crew import ROOT

EXAMPLE = ROOT / "examples" / "conduit"

if str(EXAMPLE) not in sys.path:
    # Appended, because other folders also have a module `app`.
    sys.path.append(str(EXAMPLE))
