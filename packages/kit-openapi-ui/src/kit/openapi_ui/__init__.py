# SPDX-License-Identifier: MIT
"""The files of Swagger UI and Scalar, which show OpenAPI documents."""

from __future__ import annotations

from pathlib import Path

__all__ = ("find_assets",)

_UIS = ("swagger", "scalar")
_ASSETS = Path(__file__).parent / "assets"


def find_assets(ui: str) -> Path:
    """Finds the files of a user interface.

    Args:
        ui: The user interface: `swagger` (Swagger UI) or `scalar`.

    Returns:
        The folder. It contains the scripts and styles under the names they have in the npm
        packages, the licenses, and `THIRD-PARTY.txt`, which lists the bundled packages.

    Raises:
        ValueError: If there is no such user interface.
        FileNotFoundError: If the files are missing: someone removed them from a clone of Kit.

    Example:
        ```python
        script = find_assets("swagger") / "swagger-ui-bundle.js"
        ```
    """
    if ui not in _UIS:
        raise ValueError(f"find_assets() got {ui!r:.100}: expected 'swagger' or 'scalar'")
    folder = _ASSETS / ui
    if not folder.is_dir():
        raise FileNotFoundError(
            f"kit-openapi-ui has no folder {folder}: run "
            "`uv sync --reinstall-package kit-openapi-ui` in the clone of Kit"
        )
    return folder


find_assets.__module__ = __name__
