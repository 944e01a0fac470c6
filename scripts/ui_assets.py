# SPDX-License-Identifier: MIT
"""Checks and updates the npm packages whose files kit-openapi-ui contains.

    python scripts/ui_assets.py check
    python scripts/ui_assets.py update

`check` says which packages have newer versions, compares the versions that the bundles themselves
tell with the first ones without known vulnerabilities, and asks for advisories about everything
bundled (`npm audit`). It exits with 1 if there is a vulnerability, and with 2 if it can't tell,
since the registry doesn't answer.

`update` pins the newest versions and lists what they bundle, with the licenses.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from workspace import ROOT

PACKAGE = ROOT / "packages" / "kit-openapi-ui"
sys.path.insert(0, str(PACKAGE))

import build_assets  # noqa: E402

# Licenses of packages whose package.json names them in the form of its first years.
OLD_LICENSES = {"format": "MIT"}
FOUND, NOT_CHECKED = 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="look for vulnerabilities and newer versions")
    commands.add_parser("update", help="pin the newest versions")
    command = parser.parse_args(arguments).command
    if command == "check":
        return check(PACKAGE)
    try:
        update(PACKAGE)
    except build_assets.AssetError as error:
        sys.exit(f"error: {error}")
    return 0


def check(package: Path) -> int:
    """Checks the pinned packages; returns the exit code."""
    found = [*find_old_components(package)]
    not_checked = False
    try:
        for line in find_newer(package):
            print(line)
    except build_assets.AssetError as error:
        print(f"NOT CHECKED for newer versions, the npm registry doesn't tell: {error}")
        not_checked = True
    try:
        found += find_advisories(package)
    except build_assets.AssetError as error:
        print(f"NOT CHECKED for advisories, the npm registry doesn't tell: {error}")
        not_checked = True
    for line in found:
        print(f"VULNERABLE: {line}")
    if found:
        return FOUND
    if not not_checked:
        print("no known vulnerabilities")
    return NOT_CHECKED if not_checked else 0


def find_old_components(package: Path) -> Iterator[str]:
    """Yields bundled components whose code tells a version with known vulnerabilities."""
    for marker in read_markers(package):
        file = build_assets.find_places(package).assets / marker["ui"] / marker["file"]
        version = read_marked_version(file, marker)
        place = f"{marker['component']} {version} in {marker['file']}"
        if parse_version(version) < parse_version(marker["fixed"]):
            yield f"{place}: fixed in {marker['fixed']}"
        else:
            print(f"{place}: at least {marker['fixed']}")


def read_markers(package: Path) -> list[dict[str, str]]:
    """Returns the components whose versions are looked up in the bundles."""
    settings = tomllib.loads((package / "assets.toml").read_text(encoding="utf-8"))
    markers: list[dict[str, str]] = settings["marker"]
    return markers


def read_marked_version(file: Path, marker: Mapping[str, str]) -> str:
    """Returns the version of a component, from the code of its bundle."""
    if not file.is_file():
        sys.exit(f"error: there is no {file}: run packages/kit-openapi-ui/build_assets.py")
    versions = set(re.findall(marker["pattern"], file.read_text(encoding="utf-8")))
    if len(versions) != 1:
        sys.exit(
            f"error: {marker['file']} has {sorted(versions) or 'no match'} for the pattern of "
            f"{marker['component']} in assets.toml: expected one version"
        )
    return str(versions.pop())


def parse_version(text: str) -> tuple[int, ...]:
    """Returns a version that can be compared."""
    return tuple(int(part) for part in text.split("."))


def find_newer(package: Path) -> Iterator[str]:
    """Yields a line for each pinned package: whether it is the newest."""
    for pin in build_assets.read_pins(package).values():
        newest = view(pin["package"], "version")
        is_newest = newest == pin["version"]
        verdict = "the newest version" if is_newest else f"OUT OF DATE, the newest is {newest}"
        yield f"{pin['package']} {pin['version']}: {verdict}"


def view(name: str, field: str) -> Any:
    """Returns a field of a package from the npm registry."""
    said = build_assets.run_npm("view", name, field, "--json", cwd=ROOT)
    return json.loads(said) if said.strip() else None


def find_advisories(package: Path) -> list[str]:
    """Asks npm for advisories about all that is bundled in a known version; returns a line each."""
    bundled = {
        (each["name"], each["version"])
        for components in build_assets.read_components(package).values()
        for each in components
        if each["version"]
    }
    pins = {(pin["package"], pin["version"]) for pin in build_assets.read_pins(package).values()}
    with tempfile.TemporaryDirectory() as folder:
        for name, content in write_lock(sorted(bundled | pins)).items():
            (Path(folder) / name).write_text(json.dumps(content), encoding="utf-8")
        # It exits with 1 for vulnerabilities, and if the registry can't be asked.
        said = build_assets.run_npm(
            "audit", "--package-lock-only", "--json", cwd=Path(folder), codes=(0, 1)
        )
    report = json.loads(said)
    if "vulnerabilities" not in report:
        raise build_assets.AssetError(report.get("message") or f"`npm audit` printed {report}")
    advisories = {
        f"{advisory['name']} {advisory['range']}: {advisory['title']} ({advisory['severity']}), "
        f"{advisory['url']}"
        for vulnerability in report["vulnerabilities"].values()
        for advisory in vulnerability["via"]
        if isinstance(advisory, dict)
    }
    print(f"asked for advisories about {len(bundled | pins)} packages")
    return sorted(advisories)


def write_lock(packages: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Returns a package.json and a package-lock.json with these packages, each at its version."""
    # By other names, since a package may be there in two versions.
    aliases = {f"bundled-{index}": each for index, each in enumerate(packages)}
    needed = {alias: f"npm:{name}@{version}" for alias, (name, version) in aliases.items()}
    project = {"name": "bundled", "version": "0.0.0", "dependencies": needed}
    locked = {
        f"node_modules/{alias}": {"name": name, "version": version}
        for alias, (name, version) in aliases.items()
    }
    return {
        "package.json": {**project, "private": True},
        "package-lock.json": {
            "name": "bundled",
            "version": "0.0.0",
            "lockfileVersion": 3,
            "requires": True,
            "packages": {"": project, **locked},
        },
    }


def update(package: Path) -> None:
    """Writes the newest versions into assets.toml, and what they bundle into components.json."""
    settings = package / "assets.toml"
    text = settings.read_text(encoding="utf-8")
    components = {}
    for ui, pin in build_assets.read_pins(package).items():
        newest = {name: view(pin["package"], name) for name in ("version", "dist.integrity")}
        current = {**pin, "version": newest["version"], "integrity": newest["dist.integrity"]}
        for field in ("version", "integrity"):
            text = text.replace(f'{field} = "{pin[field]}"', f'{field} = "{current[field]}"')
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            unpacked = build_assets.unpack(build_assets.fetch(current, work), current, work / ui)
            found = build_assets.find_components(current, unpacked)
            for marker in read_markers(package):
                if marker["ui"] == ui:
                    version = read_marked_version(next(unpacked.rglob(marker["file"])), marker)
                    found = {each for each in found if each.name != marker["component"]}
                    found.add(build_assets.Component(marker["component"], version))
            licenses = find_licenses(current, work)
        components[ui] = [
            {
                "name": name,
                "version": version,
                "license": licenses.get(name) or find_license(name),
            }
            for name, version in sorted(found)
        ]
        print(f"{pin['package']} {pin['version']} -> {current['version']}, {len(found)} components")
    settings.write_text(text, encoding="utf-8")
    lines = json.dumps(components, indent=1) + "\n"
    (package / "components.json").write_text(lines, encoding="utf-8")


def find_licenses(pin: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Returns the licenses of what a package needs, from the lock file that npm makes for it."""
    project = folder / "licenses"
    project.mkdir()
    (project / "package.json").write_text('{"name": "licenses", "private": true}')
    wanted = pin.get("sources", f"{pin['package']}@{pin['version']}")
    build_assets.run_npm(
        *("install", "--package-lock-only", "--ignore-scripts", "--legacy-peer-deps", wanted),
        cwd=project,
    )
    packages = json.loads((project / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    return {
        path.rpartition("node_modules/")[2]: each["license"].strip("()")
        for path, each in packages.items()
        if isinstance(each.get("license"), str)
    }


def find_license(name: str) -> str:
    """Returns the license of a package, from the registry."""
    license_ = OLD_LICENSES.get(name) or view(name, "license")
    if not isinstance(license_, str):
        raise build_assets.AssetError(f"the registry has no license for {name}: {license_!r}")
    return license_.strip("()")


if __name__ == "__main__":
    sys.exit(main())
