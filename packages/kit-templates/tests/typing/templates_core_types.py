# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels, the core's too; never run."""

from __future__ import annotations

from kit import Context, Kit
from kit.templates import layout, templates


def path(c: Context) -> dict[str, str]:
    return {"path": c.req.path}


app = Kit()
app.use(templates("pages", context=path))
app.use("/admin/*", layout("admin.html"))
app.get("/", lambda c: c.render("page.html", title="Books", stream=True))
