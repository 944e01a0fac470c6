# SPDX-License-Identifier: MIT
"""A newcomer, who does what the docs say, word for word, in a folder and a shell of their own.

A task is a Markdown file whose consoles have commands and what is to be seen then. `follow` is one
of its own; all others are for the shell:

    $ follow PAGE ["HEADING" ...]   does what the blocks of a page show, or of some sections

- A block with a title is saved under it; other Python as `app.py`.
- Commands are typed into the shell as they are shown. What is shown below them has to be printed.
- Servers run in another terminal, until the next one is started. They listen at another port than
  8000, which curl is told.
- Where a page shows curl but no server, the app is served as in Getting started: by `kit dev`.
- `text` is what a server printed.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

import documents
from commands import clean_environment
from document_runner import compare, session, without_variables
from document_servers import is_server, moved
from documents import Block
from environments import versions
from ports import free_port

# uv may have to install what is served.
STARTUP_S = 120.0
# How long an edit may take to be served.
RELOAD_S = 10.0
_END_LIMIT_S = 30
_DONE = "<the command is done>"
# What kit dev adds to the pages that it sends to browsers; the docs show what the app sends.
_RELOAD = re.compile(r'<script src="/__kit_dev/reload\.js"[^>]*></script>\n')
# uv in the place of pip and of venv: it does the same in a tenth of the time.
_QUICK = """
pip() { uv pip "$@" --quiet; }
python3() {
    if [ "$1 $2" = "-m venv" ]; then uv venv --quiet --python "$(command -v python3)" "$3"
    else command python3 "$@"; fi
}
python() { if [ "$1 $2" = "-m venv" ]; then python3 "$@"; else command python "$@"; fi; }
"""


class Newcomer:
    """Does tasks in an empty folder.

    Args:
        folder: The folder, which has to be there.
        wheels: The wheels of Kit, by distribution, which are installed in place of published ones.
        has_patience: Whether pip and venv are used themselves, and not uv in their place.
    """

    def __init__(
        self, folder: Path, wheels: Mapping[str, Path], *, has_patience: bool = False
    ) -> None:
        self._folder = folder
        self._log = folder.parent / f"{folder.name}.log"
        self._port = free_port()
        self._servers: list[int] = []
        self._is_just_saved = False
        self._shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=_environment(folder.parent, wheels),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            bufsize=1,
            start_new_session=True,
        )
        if not has_patience:
            self._type(_QUICK)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for server in self._servers:
            with suppress(ProcessLookupError):
                os.killpg(server, signal.SIGKILL)
        os.killpg(self._shell.pid, signal.SIGKILL)  # with what runs in its background
        self._shell.communicate()

    def do(self, task: str) -> None:
        """Does a task, a Markdown file of the repository.

        Raises:
            AssertionError: If something else is seen than the task or a page shows.
        """
        for block in documents.read(task).blocks:
            assert block.language == "console", f"{block.place}: a task has consoles alone"
            self._console(block)

    def type(self, command: str) -> str:
        """Types a command, which may start a server; returns what it printed.

        Raises:
            AssertionError: If it fails, or if a server doesn't start.
        """
        if _is_server(command):
            self._serve(command)
            return ""
        code, printed = self._type(command)
        assert code == 0, f"{command} failed\n{printed}"
        return printed

    @property
    def url(self) -> str:
        """Where servers listen."""
        return f"http://127.0.0.1:{self._port}"

    def _follow(self, page: str, headings: list[str]) -> None:
        document = documents.read(page)
        has_app_py = any(block.title == "app.py" for block in document.blocks)
        sections = [document.section(heading) for heading in headings] or [document.blocks]
        for block in (block for section in sections for block in section):
            if block.title or (block.language == "python" and not has_app_py):
                path = self._folder / (block.title or "app.py")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text((path.read_text() if block.continues else "") + block.text)
                self._is_just_saved = True
            if not block.not_run:
                self._take(block)

    def _take(self, block: Block) -> None:
        if block.language == "console":
            self._console(block)
        elif block.language == "sh":
            for command in re.sub(r"\\\n", " ", block.text).splitlines():
                if command.strip() and not command.startswith("#"):
                    self._command(block, command, "")
        elif block.language == "text" and not block.title:
            said = self._log_text()
            missing = [line for line in block.text.splitlines() if _plain(line) not in said]
            assert not missing, f"{block.place}: no server printed {missing}"
        else:
            assert block.title or block.language == "python", f"{block.place}: what is this for?"

    def _console(self, block: Block) -> None:
        for command, shown in session(block.text):
            self._command(block, command, shown)

    def _command(self, block: Block, command: str, shown: str) -> None:
        words = shlex.split(command, comments=True)
        if words[0] == "follow":
            self._follow(words[1], words[2:])
        elif words[0] == "curl":
            self._curl(block, command, shown)
        else:
            try:
                printed = self.type(command)
            except AssertionError as error:
                raise AssertionError(f"{block.place}: {error}") from None
            if shown.strip():
                compare(block.place, shown, printed)

    def _curl(self, block: Block, command: str, shown: str) -> None:
        if not self._servers:
            self._serve("kit dev")
        command = command.replace(":8000", f":{self._port}").replace("curl ", "curl -sS ", 1)
        end = time.monotonic() + RELOAD_S
        while True:
            code, printed = self._type(command)
            printed = _RELOAD.sub("", printed.replace(f":{self._port}", ":8000"))
            try:
                assert code == 0, f"{block.place}: {command} failed\n{printed}"
                if shown.strip():
                    compare(block.place, shown, printed)
            except AssertionError:
                if not self._is_just_saved or time.monotonic() > end:
                    raise
                time.sleep(0.1)  # until the app is loaded again
            else:
                self._is_just_saved = False
                return

    # The shell and the servers -----------------------------------------------------------------

    def _type(self, command: str) -> tuple[int, str]:
        """Types a command; returns its exit code and what it printed."""
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(f"{{ {command}\n}} </dev/null\nprintf '\\n{_DONE} %d\\n' $?\n")
        self._shell.stdin.flush()
        lines: list[str] = []
        for line in self._shell.stdout:
            if line.startswith(_DONE):
                return int(line.removeprefix(_DONE)), "".join(lines)[:-1]
            lines.append(line)
        raise AssertionError(f"the shell ended with {command!r}: {''.join(lines)}")

    def _serve(self, command: str) -> None:
        for server in self._servers:
            # A server that is told to end while it starts may miss it.
            late = f"(sleep {_END_LIMIT_S}; kill -KILL {server}) >/dev/null 2>&1 &"
            self._type(f"kill {server} 2>/dev/null; {late} wait {server}; kill $! 2>/dev/null")
        variables, arguments = moved(shlex.split(command, comments=True), self._port)
        words = [f"{name}={shlex.quote(value)}" for name, value in variables.items()]
        words += map(shlex.quote, arguments)
        # A session of its own, so that what it starts ends with it.
        started = f"setsid env {' '.join(words)} >>{shlex.quote(str(self._log))} 2>&1"
        _, printed = self._type(f"{started} & echo $!")
        self._servers = [int(printed)]
        self._is_just_saved = False
        end = time.monotonic() + STARTUP_S
        while not self._listens():
            failure = f"{command} does not serve\n{self._log_text()}"
            assert self._type(f"kill -0 {self._servers[0]}")[0] == 0, failure
            assert time.monotonic() < end, failure
            time.sleep(0.05)

    def _listens(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=5):
                return True
        except OSError:
            return False

    def _log_text(self) -> str:
        return _plain(self._log.read_text(errors="replace")) if self._log.exists() else ""


def _is_server(command: str) -> bool:
    return is_server(without_variables(command).removeprefix("uv run "))


def _plain(text: str) -> str:
    """A text without what differs from run to run."""
    return re.sub(r"\b\d+(?:\.\d+)?(?= ?m?s\b)", "0", text)


def _version(wheel: Path) -> str:
    return wheel.name.split("-")[1]


def _environment(folder: Path, wheels: Mapping[str, Path]) -> dict[str, str]:
    """The environment variables of a shell that knows of nothing but Python and uv."""
    # Old pips can't combine an extra with a constraint that is a file.
    for_pip = folder / "versions-for-pip.txt"
    for_pip.write_text("".join(f"{name}=={_version(wheel)}\n" for name, wheel in wheels.items()))
    links = {str(wheel.parent) for wheel in wheels.values()}
    own = {str(Path(sys.prefix) / "bin"), str(Path(sys.executable).parent)}
    paths = [path for path in os.environ["PATH"].split(os.pathsep) if path not in own]
    kept = {
        name: value
        for name, value in clean_environment().items()
        if not name.startswith(("KIT_", "PYTEST_", "COVERAGE_", "UV_"))
    }
    return {
        **kept,
        "PATH": os.pathsep.join([str(Path(sys.base_prefix) / "bin"), *paths]),
        "PIP_CONSTRAINT": str(for_pip),
        "PIP_FIND_LINKS": " ".join([*links, os.environ.get("PIP_FIND_LINKS", "")]),
        "UV_CONSTRAINT": str(versions(folder, wheels)),
        "UV_FIND_LINKS": ",".join(links),
        # `uv venv` takes the first interpreter of the path.
        "UV_PYTHON_PREFERENCE": "only-system",
        "PYTHONUNBUFFERED": "1",
    }
