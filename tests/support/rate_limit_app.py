# SPDX-License-Identifier: MIT
"""An app with limits, for real servers."""

from __future__ import annotations

from kit import Kit
from kit.rate_limit import rate_limit

app = Kit()
app.use("/direct", rate_limit("3/hour", "10/day", name="direct"))
app.use("/proxied", rate_limit("1/hour", trusted_hops=2, strategy="sliding"))
app.get("/direct", lambda c: c.text("Hello"))
app.get("/proxied", lambda c: c.text("Hello"))
