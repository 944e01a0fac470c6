# SPDX-License-Identifier: MIT
"""The site that the browser tests of CORS and CSRF ask, and an empty page to ask from.

Environment: ALLOWED has the origin that `/shared` allows, with credentials.
"""

from __future__ import annotations

import os
from typing import Any

from kit import Context, HTTPException, Kit
from kit.cookie import get_cookie, set_cookie
from kit.cors import cors
from kit.csrf import csrf

ALLOWED = os.environ.get("ALLOWED", "https://nobody.example")

app: Kit[Any, Any] = Kit()
changes: list[str] = []

app.get("/", lambda c: c.html("<!doctype html><title>A page</title><p>Hello"))


def enter(c: Context) -> Any:
    set_cookie(c, "user", "ada", path="/", http_only=True)
    return c.html("<!doctype html><title>Entered</title>")


app.get("/enter", enter)

# --- CORS

app.use(
    "/shared/*",
    cors(origin=[ALLOWED], allow_headers=["X-Custom"], expose_headers="X-Exposed", max_age=0),
)
app.use("/private/*", cors(origin=[ALLOWED], credentials=True))
app.use("/public/*", cors(origin="*"))


def guard(c: Context, next: Any) -> Any:
    if c.req.header("x-custom") == "refused":
        raise HTTPException(401, "who are you?")
    return next()


app.use("/shared/*", guard)


def answer(c: Context) -> Any:
    c.header("X-Exposed", "seen")
    c.header("X-Hidden", "not seen")
    return c.text(f"{c.req.method} {c.req.header('x-custom', default='-')}")


def fail(c: Context) -> Any:
    raise ValueError("a fault")


for prefix in ("/shared", "/public"):
    app.all(f"{prefix}/answer", answer)
    app.all(f"{prefix}/fault", fail)
app.get("/closed/answer", answer)
app.get("/private/user", lambda c: c.text(f"user {get_cookie(c, 'user')}"))

# --- CSRF

app.use("/act/*", csrf())


def change(c: Context) -> Any:
    changes.append(f"{c.req.method} by {get_cookie(c, 'user')}")
    return c.html(f"<!doctype html><title>Changed</title><p>{changes[-1]}")


app.all("/act/change", change)
app.get("/changes", lambda c: c.json(changes))


def form(c: Context) -> Any:
    """A page with a form that is sent to `?to=`, as `?type=`."""
    to = c.req.query("to", default="/act/change")
    kind = c.req.query("type", default="application/x-www-form-urlencoded")
    return c.html(
        "<!doctype html><title>A form</title>"
        f'<form method="post" action="{to}" enctype="{kind}">'
        '<input name="a" value="1"><button>Send</button></form>'
    )


app.get("/form", form)
