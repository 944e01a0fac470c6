# SPDX-License-Identifier: MIT
"""Writes docs/server-behaviours.md from what the tests expect.

python tests/support/behaviours_table.py --write
python tests/support/behaviours_table.py --check
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

import behaviours_asked  # noqa: F401 - adds behaviours
import behaviours_seen  # noqa: F401 - adds behaviours
from behaviours import BEHAVIOURS, ENDINGS, Behaviour
from behaviours_differences import Difference, difference
from behaviours_modes import MODES, Mode

PAGE = Path(__file__).resolve().parents[2] / "docs/server-behaviours.md"
_HEADINGS = {
    "uvicorn": "uvicorn",
    "uvicorn-h11": "uvicorn h11",
    "hypercorn": "hypercorn",
    "hypercorn-trio": "hypercorn trio",
    "granian": "granian",
    "granian-rsgi": "granian RSGI",
    "uvicorn-zttp": "uvicorn zttp",
    "gunicorn-asgi": "gunicorn ASGI",
    "anycorn": "anycorn",
    "anycorn-trio": "anycorn trio",
    "gunicorn": "gunicorn",
    "wsgiref": "wsgiref",
    "lambda-rest": "REST",
    "lambda-http": "HTTP",
    "lambda-alb": "ALB",
    "lambda-alb-multi": "ALB multi",
    "lambda-url": "URL",
}
_TOP = """\
# Servers compared

The same requests, sent to one app on every server: the responses, and what happens in the app. The
tests check each cell, and `tests/support/behaviours_table.py` writes this page from what they
expect.

- ✓: as the column "expected" says.
- A number: different; the [note](#notes) with that number says how, and why.
- {dash}: impossible here, or not tested; see [What isn't compared](#what-isnt-compared).

The columns:

- uvicorn with httptools, its default where that is installed, with `--http h11`, and with
  `--http zttp --http2`;
- hypercorn on asyncio, and with `--worker-class trio`;
- granian with `--interface asgi`{with_rsgi};
- gunicorn with `--worker-class asgi`, its own ASGI worker;
- anycorn on asyncio, and with `--worker-class trio`;
- gunicorn with threads, and wsgiref, the server of the standard library, behind `wsgiref.validate`;
  both run the app through [`to_wsgi`](deployment.md#wsgi);
- [AWS Lambda](deployment.md#aws-lambda) through mangum, called by a REST API or an HTTP API of API
  Gateway, a load balancer (ALB) without and with multi-value headers, or a function URL. The
  events are modelled on samples; no request went through AWS.

The requests of this page are HTTP/1.1. Other tests cover [HTTP/2 and
HTTP/3](deployment.md#http2-and-http3).

The server, not Kit, sends 100 (Continue). No server lets Kit send 103 (Early Hints). Kit sends no
trailers.
"""


def page() -> str:
    """Returns the text of the page."""
    notes: list[Difference] = []
    parts = [_top()]
    for group, behaviours in groupby(_sorted(), key=lambda each: each.group):
        names = " | ".join(_HEADINGS[mode.name] for mode in MODES)
        lines = [f"| | expected | {names} |", "|---|---|" + "---|" * len(MODES)]
        for each in behaviours:
            cells = " | ".join(_cell(each, mode, notes) for mode in MODES)
            lines.append(f"| {each.name} | {_code(each.expected)} | {cells} |")
        parts.append("\n".join([f"## {group}", "", *lines, ""]))
    parts.append("\n".join(["## Notes", "", *_notes(notes), ""]))
    parts.append("\n".join(["## What isn't compared", "", *_absent(), ""]))
    return "\n".join(parts)


def _top() -> str:
    has_rsgi = any(mode.name == "granian-rsgi" for mode in MODES)
    return _TOP.format(
        dash="\N{EN DASH}",
        with_rsgi=" and `--interface rsgi`" if has_rsgi else "",
    )


def _sorted() -> list[Behaviour]:
    groups = list(dict.fromkeys(each.group for each in BEHAVIOURS))
    return [*sorted(BEHAVIOURS, key=lambda each: groups.index(each.group)), *ENDINGS]


def _cell(behaviour: Behaviour, mode: type[Mode], notes: list[Difference]) -> str:
    if behaviour.needs in mode.lacks:
        return "\N{EN DASH}"
    differs = difference(behaviour, mode.name)
    if differs is None:
        return "✓"
    for number, note in enumerate(notes, 1):
        if note[2:] == differs[2:]:  # the same modes, result and reason
            return str(number)
    notes.append(differs)
    return str(len(notes))


def _notes(notes: list[Difference]) -> list[str]:
    return [
        f"{number}. {', '.join(_HEADINGS[mode] for mode in each.modes)}: {_code(each.seen)}: "
        f"{each.why}."
        for number, each in enumerate(notes, 1)
    ]


def _absent() -> list[str]:
    found: dict[str, list[str]] = {}
    for mode in MODES:
        for reason in dict.fromkeys(mode.lacks.values()):
            found.setdefault(reason, []).append(_HEADINGS[mode.name])
    return [f"- {', '.join(modes)}: {reason}." for reason, modes in found.items()]


def _code(text: str) -> str:
    shown = text.replace("\n", "↵").replace("|", "and")
    return f"`{shown if len(shown) < 90 else shown[:80] + '…'}`"


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit(f"{PAGE.name} is out of date: python {Path(__file__).name} --write")
