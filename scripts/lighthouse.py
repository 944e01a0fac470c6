# SPDX-License-Identifier: MIT
"""Builds the site and has Lighthouse mark its landing page.

    uv run python scripts/lighthouse.py

Needs Chromium, and Node.js with npx, which fetches Lighthouse. The site is served compressed on
loopback, as it would be elsewhere. Prints the four marks; exits with 1 if one is below 95.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from kit import Kit
from kit.compress import compress
from kit.serve_static import serve_static

ROOT = Path(__file__).resolve().parent.parent
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
LEAST = 95
NPX = ("npx", "--yes")


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serves the files of a folder while it is entered; yields the address.

    Args:
        folder: The folder.
    """
    app = Kit()
    app.use(compress())
    app.use("/*", serve_static(root=folder))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.05)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.should_exit = True
        thread.join()


def marks(url: str, folder: Path) -> dict[str, int]:
    """Returns the marks of a page, from 0 to 100.

    Args:
        url: The page.
        folder: Where the report is kept.
    """
    report = folder / "report.json"
    flags = "--headless=new --no-proxy-server" + (" --no-sandbox" if os.geteuid() == 0 else "")
    command = [*NPX, "lighthouse", url, "--quiet", f"--chrome-flags={flags}"]
    command += [f"--only-categories={','.join(CATEGORIES)}"]
    command += ["--output=json", f"--output-path={report}"]
    browser = shutil.which("chromium") or shutil.which("google-chrome") or ""
    subprocess.run(command, check=True, env={"CHROME_PATH": browser, **os.environ})
    said = json.loads(report.read_text())
    for audit in said["audits"].values():
        if audit["score"] is not None and audit["score"] < 0.9:
            print(f"{audit['score']:5.2f}  {audit['title']} {audit.get('displayValue', '')}")
    return {each: round(said["categories"][each]["score"] * 100) for each in CATEGORIES}


def main() -> int:
    """Runs the command line; returns the exit code."""
    with tempfile.TemporaryDirectory() as temporary:
        site = Path(temporary, "site")
        build = (sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-d", str(site))
        subprocess.run(build, cwd=ROOT, check=True)
        with served(site) as url:
            found = marks(url, Path(temporary))
    for category, mark in found.items():
        print(f"{mark:5}  {category}")
    return 0 if min(found.values()) >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
