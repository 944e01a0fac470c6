# SPDX-License-Identifier: MIT
from kit import Context, Kit

app = Kit()


@app.get("/")
async def hello(c: Context):
    return c.text("Hello, World!")
