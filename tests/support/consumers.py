# SPDX-License-Identifier: MIT
"""Programs outside Kit that read OpenAPI documents: their versions, and how to run them."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from environments import install_pinned, new_environment
from npm import install_npm, run_npm
from workspace import ROOT

HERE = ROOT / "tests" / "clients" / "consumers"
# Kept between runs, as the packages take a while to install.
FOLDER = Path(os.environ.get("KIT_CONSUMERS") or ROOT / ".pytest_cache" / "consumers")
PACKAGES = {
    "@hey-api/openapi-ts": "0.99.0",
    "@redocly/cli": "2.77.0",
    "@stoplight/prism-cli": "5.16.0",
    "@stoplight/spectral-cli": "6.16.3",
    "@types/node": "20.19.0",
    "openapi-fetch": "0.17.0",
    "openapi-to-postmanv2": "6.3.3",
    "openapi-typescript": "7.13.0",
    "orval": "8.38.0",
    "typescript": "5.9.3",
}
DISTRIBUTIONS = ("openapi-python-client==0.29.1", "datamodel-code-generator==0.89.0")
# The names of the apps whose documents are read, each with the file of the app.
APPS = {
    "bookshelf": ROOT / "examples" / "bookshelf" / "app.py",
    "conduit": ROOT / "examples" / "conduit" / "app.py",
    "every_feature": ROOT / "tests" / "support" / "every_feature_app.py",
}
# Nothing that the programs might tell their makers.
QUIET = {
    "DO_NOT_TRACK": "1",
    "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
    "REDOCLY_TELEMETRY": "off",
}
# Node runs what TypeScript makes of this as CommonJS, where imports need no extension.
TYPESCRIPT = {
    "compilerOptions": {
        "strict": True,
        "target": "es2022",
        "module": "nodenext",
        "lib": ["es2023", "dom", "dom.iterable"],
        "types": ["node"],
        "skipLibCheck": True,
        "rootDir": ".",
        "outDir": "built",
    },
    "include": ["*.ts", "*/**/*.ts"],
    "exclude": ["built", "node_modules"],
}


def programs() -> Path:
    """Returns the folder with the packages of npm, which are installed once."""
    return install_npm(PACKAGES, FOLDER / "npm")


def run_program(*command: str | Path, folder: Path, code: int = 0, **environment: str) -> str:
    """Runs the command of a package of npm in a folder; returns what it printed."""
    return run_npm(programs(), *command, code=code, cwd=folder, **QUIET, **environment)


def python_programs() -> Path:
    """Returns the interpreter of an environment with `DISTRIBUTIONS`, which is made once."""
    folder = FOLDER / f"python{sys.version_info.major}.{sys.version_info.minor}"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "python.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        installed = folder / "installed.json"
        wanted = json.dumps(DISTRIBUTIONS)
        if not installed.exists() or installed.read_text() != wanted:
            install_pinned(new_environment(folder), *DISTRIBUTIONS)
            installed.write_text(wanted)
    return folder / "bin" / "python"


def write_documents(folder: Path) -> dict[str, Path]:
    """Writes the document of each of `APPS` with `kit openapi`; returns the files by name."""
    found = {}
    for name, file in APPS.items():
        found[name] = folder / f"{name}.json"
        command = [sys.executable, "-m", "kit", "openapi", f"{file}:app", "--output"]
        subprocess.run(
            [*command, str(found[name])], cwd=file.parent, check=True, capture_output=True
        )
    return found


def compile_typescript(folder: Path) -> None:
    """Compiles the TypeScript of a folder with `tsc --strict`, into its folder `built`."""
    (folder / "tsconfig.json").write_text(json.dumps(TYPESCRIPT))
    (folder / "package.json").write_text('{"type": "commonjs"}')
    (folder / "node_modules").symlink_to(programs() / "node_modules")
    run_program("tsc", "--project", ".", folder=folder)


def read_printed(text: str) -> dict[str, Any]:
    """Returns the JSON object that a client printed as its last line."""
    read: dict[str, Any] = json.loads(text.strip().splitlines()[-1])
    return read
