# SPDX-License-Identifier: MIT
"""Fetches the files of the docs pages from the configured npm registry, and describes them.

    python build_assets.py

It writes `src/kit/openapi_ui/assets` and `sbom.cdx.json`, which git ignores. They are left alone if
they are those that `assets.toml` and `components.json` ask for, so that a second build, and a build
from a source distribution, need no network.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent
TARBALLS = "KIT_OPENAPI_UI_TARBALLS"
FETCH_TIMEOUT_S = 300
# Those that decide what is built.
_SOURCES = ("assets.toml", "components.json", "build_assets.py", "LICENSE")
# Not the folder of pnpm, whose packages have their own node_modules.
_IN_NODE_MODULES = re.compile(r"node_modules/((?:@[^/]+/)?[^/@.][^/]*)/(?!.*node_modules/)")
_IN_PNPM = re.compile(r"node_modules/\.pnpm/((?:@[^/+]+\+)?[^/@]+)@([^/_(]+)")
# The packages of Scalar's own repository, e.g. `../../../api-client/dist/index.js`.
_IN_MONOREPO = re.compile(r"(?:\.\./)+([\w-]+)/dist/")
_IN_SIZE_LOG = re.compile(r"^((?:@[\w.-]+/)?[\w.-]+): [\d.]+ [KM]?B ", re.MULTILINE)
_EXACT = re.compile(r"\d+\.\d+\.\d+")


class AssetError(Exception):
    """The files can't be fetched, or aren't those that were pinned."""


class Component(NamedTuple):
    """A package whose code is in a bundle.

    Attributes:
        name: Its name on npm.
        version: Its version; empty if the bundle doesn't tell.
    """

    name: str
    version: str


class Places(NamedTuple):
    """The files of this package.

    Attributes:
        root: The folder of its pyproject.toml.
        assets: The folder of the files for the docs pages.
        sbom: The software bill of materials.
    """

    root: Path
    assets: Path
    sbom: Path


def find_places(root: Path = ROOT) -> Places:
    """Returns the files of a copy of this package."""
    return Places(root, root / "src/kit/openapi_ui/assets", root / "sbom.cdx.json")


def read_pins(root: Path = ROOT) -> dict[str, dict[str, Any]]:
    """Returns the pinned npm packages, by the names of their user interfaces."""
    settings = tomllib.loads((root / "assets.toml").read_text(encoding="utf-8"))
    return {name: each for name, each in settings.items() if isinstance(each, dict)}


def read_components(root: Path = ROOT) -> dict[str, list[dict[str, str]]]:
    """Returns what is bundled in each user interface: name, version and license."""
    text = (root / "components.json").read_text(encoding="utf-8")
    components: dict[str, list[dict[str, str]]] = json.loads(text)
    return components


def is_built(places: Places) -> bool:
    """Returns whether all files are there, unchanged, and of the pinned versions."""
    try:
        manifest = json.loads((places.assets / "manifest.json").read_text(encoding="utf-8"))
        files = {name: _digest(places.assets / name) for name in manifest["files"]}
        sbom = _digest(places.sbom)
    except (OSError, ValueError, KeyError):
        return False
    expected = (_pins_digest(places.root), files, sbom)
    return expected == (manifest["pins"], manifest["files"], manifest["sbom"])


def build(places: Places) -> bool:
    """Fetches and writes the files, unless they are there.

    Returns:
        Whether it wrote anything.

    Raises:
        AssetError: If a package can't be fetched, or isn't the pinned one.
    """
    if is_built(places):
        return False
    # Beside the target, so that it is moved in one step: another build may run at the same time.
    with tempfile.TemporaryDirectory(dir=places.root, prefix=".assets-") as folder:
        work = Path(folder)
        assets = work / "assets"
        for ui, pin in read_pins(places.root).items():
            package = unpack(fetch(pin, work), pin, work / ui)
            _check_components(ui, find_components(pin, package), places.root)
            _copy(ui, pin, package, assets / ui, places.root)
        _write_json(work / "sbom", describe_bundles(places.root))
        files = sorted(path for path in assets.rglob("*") if path.is_file())
        manifest = {
            "pins": _pins_digest(places.root),
            "sbom": _digest(work / "sbom"),
            "files": {path.relative_to(assets).as_posix(): _digest(path) for path in files},
        }
        _write_json(assets / "manifest.json", manifest)
        (work / "sbom").replace(places.sbom)
        if places.assets.exists():
            places.assets.rename(work / "old")
        assets.rename(places.assets)
    return True


def fetch(pin: Mapping[str, Any], folder: Path) -> Path:
    """Returns the tarball of a package: from the folder in `TARBALLS`, or fetched by npm.

    Raises:
        AssetError: If it can't be had.
    """
    wanted = f"{pin['package']}@{pin['version']}"
    name = f"{pin['package'].lstrip('@').replace('/', '-')}-{pin['version']}.tgz"
    given = os.environ.get(TARBALLS)
    if given:
        if not (Path(given) / name).is_file():
            raise AssetError(f"there is no {name} in {given}, the folder of {TARBALLS}")
        return Path(given) / name
    run_npm("pack", wanted, "--pack-destination", str(folder), cwd=folder)
    if not (folder / name).is_file():
        raise AssetError(f"`npm pack {wanted}` did not write {name}")
    return folder / name


def run_npm(*arguments: str, cwd: Path, codes: Iterable[int] = (0,)) -> str:
    """Runs npm with the registry, proxy and certificates of its own configuration.

    Returns:
        What it printed.

    Raises:
        AssetError: If there is no npm, or if it fails with another exit code than `codes`.
    """
    npm = shutil.which("npm")
    command = " ".join(["npm", *arguments])
    if npm is None:
        raise AssetError(
            f"`{command}` needs npm, which comes with Node.js; or set {TARBALLS} to a folder with "
            "the packages of assets.toml, as `npm pack` names them"
        )
    try:
        done = subprocess.run(
            [npm, *arguments],
            cwd=cwd,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=FETCH_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired as error:
        raise AssetError(f"`{command}` took more than {FETCH_TIMEOUT_S} s") from error
    if done.returncode not in codes:
        raise AssetError(f"`{command}` failed: {done.stderr.strip()[-2000:]}")
    return done.stdout


def unpack(tarball: Path, pin: Mapping[str, Any], folder: Path) -> Path:
    """Checks a tarball against its integrity, then unpacks the files that are needed.

    Returns:
        The folder of the package.

    Raises:
        AssetError: If the tarball isn't the pinned one, or lacks a file.
    """
    found = compute_integrity(tarball)
    if found != pin["integrity"]:
        raise AssetError(f"{tarball.name} has the integrity {found}, expected {pin['integrity']}")
    kinds = ("files", "notices", "source_maps", "size_logs")
    with tarfile.open(tarball, "r:gz") as archive:
        for name in ("package.json", *(name for kind in kinds for name in pin[kind])):
            try:
                content = archive.extractfile(f"package/{name}")
            except KeyError as error:
                raise AssetError(f"{tarball.name} has no file {name}") from error
            if content is None:
                raise AssetError(f"{name} in {tarball.name} is not a file")
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content.read())
    return folder


def compute_integrity(path: Path) -> str:
    """Returns the integrity of a file as npm writes it (W3C Subresource Integrity)."""
    return "sha512-" + base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()


def find_components(pin: Mapping[str, Any], package: Path) -> set[Component]:
    """Returns what is bundled in a package, as its source maps and size logs tell."""
    found: set[Component] = set()
    for name in pin["source_maps"]:
        source_map = json.loads((package / name).read_text(encoding="utf-8"))
        for source in source_map["sources"]:
            found |= _find_component(source)
    for name in pin["size_logs"]:
        names = _IN_SIZE_LOG.findall((package / name).read_text(encoding="utf-8"))
        found |= {Component(each, "") for each in names}
    needed = json.loads((package / "package.json").read_text(encoding="utf-8"))["dependencies"]
    exact = {name: each for name, each in needed.items() if _EXACT.fullmatch(each)}
    return {Component(each.name, each.version or exact.get(each.name, "")) for each in found}


def _find_component(source: str) -> set[Component]:
    in_pnpm = _IN_PNPM.search(source)
    if in_pnpm is not None:
        return {Component(in_pnpm[1].replace("+", "/"), in_pnpm[2])}
    in_node_modules = _IN_NODE_MODULES.search(source)
    if in_node_modules is not None:
        return {Component(in_node_modules[1], "")}
    in_monorepo = _IN_MONOREPO.match(source)
    return set() if in_monorepo is None else {Component(f"@scalar/{in_monorepo[1]}", "")}


def _check_components(ui: str, found: set[Component], root: Path) -> None:
    """Refuses bundles whose components `components.json` doesn't list as they are."""
    # A version that the source map doesn't tell may be known from the code.
    listed = {Component(each["name"], each["version"]) for each in read_components(root)[ui]}
    names = {each.name for each in listed}
    wrong = {each for each in found if each.version and each not in listed}
    wrong |= {each for each in found if each.name not in names}
    if wrong or names != {each.name for each in found}:
        raise AssetError(
            f"components.json doesn't list the components of {ui}: run scripts/ui_assets.py update"
        )


def _copy(ui: str, pin: Mapping[str, Any], package: Path, target: Path, root: Path) -> None:
    target.mkdir(parents=True)
    for name in (*pin["files"], *pin["notices"]):
        shutil.copyfile(package / name, target / PurePosixPath(name).name)
    if "copyright" in pin:
        text = (root / "LICENSE").read_text(encoding="utf-8")
        text = re.sub(r"^Copyright .*$", pin["copyright"], text, count=1, flags=re.MULTILINE)
        (target / "LICENSE").write_text(text, encoding="utf-8")
    rows = [
        f"{each['name']} {each['version']}".strip() + f": {each['license']}"
        for each in read_components(root)[ui]
    ]
    title = f"{pin['package']} {pin['version']} ({pin['license']}) contains code of:\n\n"
    text = title + "\n".join(rows) + "\n"
    (target / "THIRD-PARTY.txt").write_text(text, encoding="utf-8")


def describe_bundles(root: Path) -> dict[str, Any]:
    """Returns the software bill of materials (CycloneDX 1.6), the same for the same pins."""
    # Not of tomllib's `project.version` alone: two builds of one version have the same pins.
    serial = uuid.uuid5(uuid.NAMESPACE_URL, _pins_digest(root))
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = f"pkg:pypi/{project['name']}@{project['version']}"
    components: dict[str, dict[str, Any]] = {}
    dependencies: dict[str, list[str]] = {own: []}
    for ui, pin in read_pins(root).items():
        package = _describe(pin["package"], pin["version"], pin["license"])
        digest = base64.b64decode(pin["integrity"].removeprefix("sha512-")).hex()
        package["hashes"] = [{"alg": "SHA-512", "content": digest}]
        bundled = [
            _describe(each["name"], each["version"], each["license"])
            for each in read_components(root)[ui]
        ]
        for each in (package, *bundled):
            components.setdefault(each["bom-ref"], each)
        dependencies[own].append(package["bom-ref"])
        dependencies[package["bom-ref"]] = sorted(each["bom-ref"] for each in bundled)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": project["name"],
                "version": project["version"],
                "purl": own,
            }
        },
        "components": [components[ref] for ref in sorted(components)],
        "dependencies": [
            {"ref": ref, "dependsOn": needed} for ref, needed in sorted(dependencies.items())
        ],
    }


def _describe(name: str, version: str, license_: str) -> dict[str, Any]:
    at_version = f"@{version}" if version else ""
    purl = f"pkg:npm/{name.replace('@', '%40')}{at_version}"
    described: dict[str, Any] = {"type": "library", "bom-ref": purl, "name": name}
    if version:
        described["version"] = version
    return {**described, "purl": purl, "licenses": [_describe_license(license_)]}


def _describe_license(license_: str) -> dict[str, Any]:
    is_expression = " " in license_
    return {"expression": license_} if is_expression else {"license": {"id": license_}}


def _pins_digest(root: Path) -> str:
    parts = [hashlib.sha256((root / name).read_bytes()).hexdigest() for name in _SOURCES]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return hashlib.sha256(" ".join([*parts, project["version"]]).encode()).hexdigest()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write_json(path: Path, value: Any) -> None:
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")


def main() -> None:
    """Runs the command line."""
    places = find_places()
    try:
        is_new = build(places)
    except AssetError as error:
        sys.exit(f"error: {error}")
    print(f"{'wrote' if is_new else 'unchanged:'} {places.assets}")


if __name__ == "__main__":
    main()
