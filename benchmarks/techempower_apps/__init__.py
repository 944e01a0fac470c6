# SPDX-License-Identifier: MIT
"""The apps of the section `techempower`, each written the way its framework's documentation shows.

Each module has a function `make(url)`. It returns an ASGI app that opens a pool of connections to
the database in its lifespan. The apps share the statements in `world.py` and the template in
`pages/`. They differ only in how they read requests and create responses. In all of them, Jinja's
`auto_reload` is off.
"""

from __future__ import annotations

NAMES = ("kit", "starlette", "fastapi", "litestar", "blacksheep", "falcon")
"""The modules, which have the names of their frameworks."""
