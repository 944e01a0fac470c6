# SPDX-License-Identifier: MIT
"""Wrong uses that mypy and pyright refuse; never run.

Each ignore below stands for an error: where there is none, the checker reports it as unused.
"""

from kit import Context, Kit, Response

app = Kit()


async def no_context() -> Response:
    return Response("x")


async def returns_text(c: Context) -> str:
    return "x"


app.get("/", no_context)  # type: ignore  # refused
app.get("/", returns_text)  # type: ignore  # refused
app.use(returns_text)  # type: ignore  # refused
app.get("/x")(no_context)  # type: ignore  # refused
app.get("/x")(returns_text)  # type: ignore  # refused
app.on_error(no_context)  # type: ignore  # refused
app.get(5, no_context)  # type: ignore  # refused
