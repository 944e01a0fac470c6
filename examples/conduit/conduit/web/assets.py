# SPDX-License-Identifier: MIT
"""Static files, whose URLs contain a digest of the content, so that caches can keep them."""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from kit import Kit
from kit.serve_static import serve_static

STATIC = Path(__file__).resolve().parent / "static"
IMMUTABLE = "public, max-age=31536000, immutable"
FILES = {
    "icon.svg": STATIC / "icon.svg",
    "site.css": STATIC / "site.css",
    # django_htmx is only here for this file. In your own app, put htmx.min.js into static/.
    "htmx.js": Path(str(files("django_htmx"))) / "static" / "django_htmx" / "htmx-2.min.js",
}


def _address(name: str) -> str:
    stem, _, end = name.rpartition(".")
    return f"/static/{stem}.{sha256(FILES[name].read_bytes()).hexdigest()[:12]}.{end}"


ADDRESSES = {name: _address(name) for name in FILES}

assets = Kit()
for name, file in FILES.items():
    assets.get(ADDRESSES[name], serve_static(file.parent, path=file.name, cache_control=IMMUTABLE))
