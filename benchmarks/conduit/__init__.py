# SPDX-License-Identifier: MIT
"""The app of `examples/conduit` on Kit and on FastAPI: same tables, statements and passwords."""

from __future__ import annotations

import sys

from ..crew import ROOT

EXAMPLE = ROOT / "examples" / "conduit"

if str(EXAMPLE) not in sys.path:
    # At the end: the example has a module `app`, as other folders do.
    sys.path.append(str(EXAMPLE))
