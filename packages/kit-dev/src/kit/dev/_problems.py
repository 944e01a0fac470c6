# SPDX-License-Identifier: MIT
"""What `kit dev` answers with in place of an app that doesn't run: a page, JSON or text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape

from kit.http.fields import parse_accept

_HTML = ("text/html", "application/xhtml+xml")
_JSON = ("application/json", "application/problem+json")
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --edge: #d0d7de; --back: #f6f8fa; --mark: #b42318 }}
@media (prefers-color-scheme: dark) {{
  :root {{ --edge: #3d444d; --back: #151b23; --mark: #ff8a80 }}
}}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 8vh auto; padding: 0 1rem }}
h1 {{ font-size: 1.5rem; color: var(--mark) }}
pre {{ font: 14px/1.5 ui-monospace, monospace; overflow-x: auto; padding: 1rem;
  border: 1px solid var(--edge); border-radius: 6px; background: var(--back) }}
</style>
<h1>{title}</h1>
<p>{text}</p>
{detail}<p>{advice}</p>
</html>
"""


@dataclass(frozen=True)
class Problem:
    """Why there is no response of the app.

    Attributes:
        title: What is wrong, in a few words.
        text: What happened, in a sentence; empty if the title says it.
        detail: The traceback, from the user's code on; empty if there is none.
        advice: What to do, and what happens then.
    """

    title: str
    text: str
    detail: str
    advice: str

    def __str__(self) -> str:
        """The problem as plain text."""
        head = f"{self.title}: {self.text}" if self.text else self.title
        return f"{head}\n{self.detail}" if self.detail else head

    def body(self, accept: str | None) -> tuple[bytes, bytes]:
        """Returns the body that a client prefers.

        Args:
            accept: The value of its Accept header (RFC 9110, section 12.5.1).

        Returns:
            The media type, and the body: HTML or JSON (RFC 9457) if the client names it, else text.
        """
        for accepted in parse_accept(accept):
            if accepted.q and accepted.type.lower() in _HTML:
                return b"text/html; charset=utf-8", self._page().encode()
            if accepted.q and accepted.type.lower() in (
                "application/json",
                "application/problem+json",
            ):
                return b"application/problem+json", self._json().encode()
            if accepted.q and accepted.type.lower() == "text/plain":
                break
        return b"text/plain; charset=utf-8", f"{self}\n{self.advice}\n".encode()

    def _page(self) -> str:
        detail = f"<pre>{escape(self.detail)}</pre>\n" if self.detail else ""
        return _PAGE.format(
            title=escape(self.title),
            text=escape(self.text),
            detail=detail,
            advice=escape(self.advice),
        )

    def _json(self) -> str:
        fields = {
            "title": self.title,
            "status": 500,
            "detail": self.text,
            "traceback": self.detail.splitlines(),
            "advice": self.advice,
        }
        return json.dumps(fields)
