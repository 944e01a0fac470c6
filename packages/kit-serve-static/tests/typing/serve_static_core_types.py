# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from kit import Context, Kit, Response
from kit.serve_static import hashed_names, send_file, serve_static


async def note(path: str, c: Context) -> None: ...


app = Kit()
app.use("/*", serve_static("public", on_found=note, cache_control=hashed_names()))
app.get("/favicon.ico", serve_static("public", "favicon.ico"))


@app.get("/report")
async def report(c: Context) -> Response:
    return await send_file(c, "report.pdf")
