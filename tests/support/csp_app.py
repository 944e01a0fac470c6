# SPDX-License-Identifier: MIT
"""Pages with security headers, for a browser."""

from __future__ import annotations

from typing import Any

from kit import Context, Kit
from kit.secure_headers import NONCE, secure_headers

app = Kit()
reports: list[Any] = []

POLICY = {"default_src": ["'self'"], "script_src": [NONCE], "style_src": [NONCE]}
app.use("/page", secure_headers(content_security_policy=POLICY))
app.use(
    "/reported",
    secure_headers(
        content_security_policy_report_only={"script_src": [NONCE], "report_uri": "/reports"}
    ),
)
app.use("/framed/same-origin", secure_headers())
app.use("/framed/deny", secure_headers(x_frame_options="DENY"))
app.use(
    "/framed/ancestors",
    secure_headers(x_frame_options=False, content_security_policy={"frame_ancestors": ["'none'"]}),
)
app.use(
    "/features",
    secure_headers(
        permissions_policy={
            "geolocation": False,
            "fullscreen": ["self"],
            "midi": ["https://other.example"],
            "usb": True,
        }
    ),
)
app.use("/sniffed.js", secure_headers())


def scripts(c: Context) -> Any:
    """A page with one script that has the nonce, and others that haven't."""
    nonce = c.get("secure_headers_nonce")
    return c.html(
        "<!doctype html><title>scripts</title>"
        f'<style nonce="{nonce}">#allowed {{ color: rgb(1, 2, 3) }}</style>'
        "<style>#bare { color: rgb(1, 2, 3) }</style>"
        '<p id="allowed">a</p><p id="bare">b</p>'
        "<script>document.body.dataset.bare = 'ran'</script>"
        "<script nonce='AAAAAAAAAAAAAAAAAAAAAA=='>document.body.dataset.other = 'ran'</script>"
        "<img src='/none' onerror=\"document.body.dataset.handler = 'ran'\">"
        f"<script id='nonced' nonce='{nonce}'>document.body.dataset.nonced = 'ran'</script>"
    )


app.get("/page", scripts)
app.get("/reported", scripts)


@app.get("/framed/:name")
def framed(c: Context) -> Any:
    """A page that tells its name to the one around it."""
    name = c.req.param("name")
    return c.html(f"<p>{name}</p><script>parent.postMessage('{name}', '*')</script>")


app.get("/features", lambda c: c.html("<!doctype html><title>features</title>"))
app.get("/plain", lambda c: c.html("<!doctype html><title>plain</title>"))
app.get("/:name{sniffed[.]js|taken[.]js}", lambda c: c.text("document.body.dataset.script = 'ran'"))
app.get("/reports/all", lambda c: c.json(reports))


@app.post("/reports")
async def report(c: Context) -> Any:
    """Takes what the browser reports."""
    reports.append(await c.req.json())
    return c.body(None, 204)
