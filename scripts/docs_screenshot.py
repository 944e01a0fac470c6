# SPDX-License-Identifier: MIT
"""MkDocs hook that shows real screenshots of the bookshelf's docs page on the landing page.

No image is committed. `mkdocs build` serves examples/bookshelf on loopback, and takes a screenshot
with light and one with dark colors. Without Chromium, or if anything goes wrong, the page keeps
docs/assets/docs-page.svg. KIT_SCREENSHOTS=no leaves them out.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
BOOKSHELF = ROOT / "examples" / "bookshelf"
PICTURE = re.compile(r'<img([^>]*) src="assets/docs-page\.svg"[^>]*>')
SIZE = "960,860"
STARTUP_S = 30.0
# The values of Blink's setting preferredColorScheme.
SCHEMES = {"light": 1, "dark": 0}

log = logging.getLogger("mkdocs.hooks.docs_screenshot")
_builds = False
_is_taken = False


def on_startup(command: str, dirty: bool) -> None:
    """Notes whether the site is built, as `mkdocs serve` should start quickly.

    Args:
        command: `build`, `serve` and so on.
        dirty: Whether only changed pages are built.
    """
    global _builds
    _builds = command == "build" and os.environ.get("KIT_SCREENSHOTS") != "no"


def on_files(files: Files, config: Any) -> None:
    """Adds the screenshots to the files of the site.

    Args:
        files: The files.
        config: The settings of MkDocs.
    """
    global _is_taken
    _is_taken = False
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next(filter(None, map(shutil.which, names)), None)
    if not _builds or browser is None:
        return
    try:
        images = screenshots(browser)
    except (OSError, subprocess.SubprocessError) as error:
        # A warning would be an error with --strict.
        log.info("No screenshots of the docs page: %s", error)
        return
    for scheme, content in images.items():
        files.append(File.generated(config, f"assets/docs-page-{scheme}.png", content=content))
    _is_taken = True


def on_page_content(html: str, page: Any, **_: object) -> str:
    """Replaces the drawing on the landing page with the screenshots.

    Args:
        html: The page.
        page: Where it comes from.
    """
    if page.file.src_uri != "index.md" or not _is_taken:
        return html
    # Material shows each with the colors that its name says.
    width, height = SIZE.split(",")
    size = f'width="{width}" height="{height}" loading="lazy"'
    images = (
        rf'<img\1 src="assets/docs-page-{scheme}.png#only-{scheme}" {size}>' for scheme in SCHEMES
    )
    return PICTURE.sub("".join(images), html)


def screenshots(browser: str) -> dict[str, bytes]:
    """Returns a PNG of the docs page for each color scheme.

    Args:
        browser: The program of Chromium.

    Raises:
        OSError: If the app doesn't respond.
        subprocess.SubprocessError: If the browser fails.
    """
    options = ["--headless=new", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]
    options += ["--no-proxy-server", "--disable-background-networking", f"--window-size={SIZE}"]
    if os.geteuid() == 0:
        options.append("--no-sandbox")  # which doesn't run as root
    images = {}
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as url:
        for scheme, value in SCHEMES.items():
            image = Path(folder, f"{scheme}.png")
            command = [
                *(browser, *options, f"--user-data-dir={folder}/{scheme}"),
                f"--blink-settings=preferredColorScheme={value}",
                # Scripts get as much time, which passes as fast as they run.
                "--virtual-time-budget=10000",
                *(f"--screenshot={image}", f"{url}/docs"),
            ]
            subprocess.run(command, check=True, capture_output=True, timeout=60)
            images[scheme] = image.read_bytes()
    return images


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serves the bookshelf while it is entered; yields its address.

    Args:
        folder: Where it may keep its database.

    Raises:
        OSError: If it doesn't start.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "kit", "serve", str(BOOKSHELF), "--port", str(port)],
        env={**os.environ, "BOOKSHELF_DB": str(folder / "books.db"), "BOOKSHELF_TOKEN": ""},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        end = time.monotonic() + STARTUP_S
        while not _answers(f"{url}/docs"):
            if process.poll() is not None or time.monotonic() > end:
                raise OSError(f"{BOOKSHELF} can't be served")
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5):
            return True
    except (URLError, OSError):
        return False
