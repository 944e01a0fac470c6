# SPDX-License-Identifier: MIT
"""The apps of the section `techempower`, each written the way its framework's documentation shows.

Each module has one function, `make(url)`, which makes an ASGI app that opens a pool of connections
to that database in its lifespan. What they share, the statements and the template, is in
`world.py` and `pages/`; an app differs from its peers only by what it does with a request, and by
how its answer is made. Jinja looks for no changes of a template (`auto_reload`) in any of them.
"""

from __future__ import annotations

NAMES = ("kit", "starlette", "fastapi", "litestar", "blacksheep", "falcon")
"""The modules, and the frameworks."""
