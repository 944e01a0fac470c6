# SPDX-License-Identifier: MIT
"""What httplint says about a response, as its command does, without a process for each."""

from __future__ import annotations

import io
import re
import time
from argparse import Namespace
from contextlib import redirect_stdout

from httplint.cli.http_parser import HttpCliParser, modes


def lint_response(response: bytes) -> list[tuple[str, str]]:
    """Returns level and text of each note on a response, raw, that came just now."""
    parser = HttpCliParser(Namespace(mode=modes.RESPONSE), time.time())
    printed = io.StringIO()
    with redirect_stdout(printed):
        parser.handle_input(response)
    assert not parser.failed, response
    notes = re.findall(r"^\* \[(\w+)\] (.+)$", printed.getvalue(), re.MULTILINE)
    assert notes, response
    return notes
