# SPDX-License-Identifier: MIT
"""An app that serves the folder named in the environment."""

from __future__ import annotations

import os

from kit import Context, Kit, Response
from kit.serve_static import serve_static

app = Kit()


@app.post("/upload")
async def upload(c: Context) -> Response:
    return c.text(str(len(await c.req.bytes())))


app.use(
    "/*",
    serve_static(
        os.environ["KIT_STATIC_FOLDER"],
        precompressed=["gzip"] if "KIT_STATIC_GZIP" in os.environ else True,
        pathsend="KIT_STATIC_PATHSEND" in os.environ,
    ),
)
