# SPDX-License-Identifier: MIT
"""URLs of static files with a digest of the content, so that caches can keep them."""

from __future__ import annotations

import re
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

IMMUTABLE = "public, max-age=31536000, immutable"


class Assets:
    """The files of a folder, without those in folders below.

    Args:
        folder: The folder.
        prefix: The path that it is served at.
    """

    def __init__(self, folder: Path, prefix: str) -> None:
        self.folder = folder
        self._prefix = prefix
        self._address = re.compile(
            re.escape(prefix) + r"/(?P<stem>\w[\w.-]*)\.(?P<digest>[0-9a-f]{12})\.(?P<end>\w+)"
        )
        self._digests: dict[str, tuple[int, str]] = {}

    def url(self, name: str) -> str:
        """Returns the URL path of a file: `/static/site.3f2a9c1b04d7.css` for `site.css`."""
        stem, _, end = name.rpartition(".")
        return f"{self._prefix}/{stem}.{self._digest(name)}.{end}"

    def file_of(self, path: str) -> str:
        """Returns the file of a URL path, or one that doesn't exist if the digest differs.

        While a new version of the site is brought out, an old process may be asked for a new
        address. Caches would keep its old content for a year.
        """
        found = self._address.fullmatch(path)
        if found is None:
            return path
        name = f"{found['stem']}.{found['end']}"
        is_current = (self.folder / name).is_file() and self._digest(name) == found["digest"]
        return f"/{name}" if is_current else path

    def _digest(self, name: str) -> str:
        # An edited file gets a new URL without a restart.
        changed = (self.folder / name).stat().st_mtime_ns
        known = self._digests.get(name)
        if known is None or known[0] != changed:
            digest = sha256((self.folder / name).read_bytes()).hexdigest()[:12]
            known = self._digests[name] = (changed, digest)
        return known[1]


own = Assets(Path(__file__).resolve().parent.parent / "static", "/static")
# This package is only used for its htmx file. In your own site, put htmx.min.js into static/.
vendored = Assets(Path(str(files("django_htmx"))) / "static" / "django_htmx", "/vendor")
