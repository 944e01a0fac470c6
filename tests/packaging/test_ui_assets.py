# SPDX-License-Identifier: MIT
"""How kit-openapi-ui is built from npm packages, and how `scripts/ui_assets.py` checks them."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import ui_assets
from build_assets import (
    TARBALLS,
    AssetError,
    Component,
    Places,
    build,
    compute_integrity,
    describe_bundles,
    find_components,
    find_places,
    is_built,
)
from workspace import ROOT

pytestmark = pytest.mark.once

PACKAGE = ROOT / "packages" / "kit-openapi-ui"
needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="there is no npm")

MAP = {
    "sources": [
        "../../node_modules/.pnpm/vue@3.5.1_typescript@5.9.3/node_modules/vue/dist/vue.mjs",
        "../../node_modules/.pnpm/@lezer+lr@1.4.0/node_modules/@lezer/lr/dist/index.js",
        "webpack://Bundle/./node_modules/dompurify/dist/purify.es.mjs",
        "webpack://Bundle/./node_modules/outer/node_modules/@inner/part/index.js",
        "../../../types/dist/index.js",
        "../../../own/dist/index.js",
        "webpack://Bundle/./src/core/index.js",
    ]
}
FOUND = {
    Component("vue", "3.5.1"),
    Component("@lezer/lr", "1.4.0"),
    Component("dompurify", ""),
    Component("@inner/part", ""),
    Component("@scalar/types", "0.25.0"),
    Component("@scalar/own", ""),
    Component("@logged/lib", ""),
}
PACKED = {
    "package.json": json.dumps({"dependencies": {"@scalar/types": "0.25.0", "vue": "^3.5.0"}}),
    "dist/ui.js": 'DOMPurify.version="3.4.17"',
    "dist/ui.js.map": json.dumps(MAP),
    "sizes.txt": "@logged/lib: 3.1 KB (0.1%)\n<self>: 3.71 MB (48.3%)\n",
    "NOTICE": "Somebody made this.",
}
SETTINGS = """
[swagger]
package = "@some/ui"
version = "1.2.3"
integrity = "{integrity}"
license = "MIT"
files = ["dist/ui.js"]
notices = ["NOTICE"]
source_maps = ["dist/ui.js.map"]
size_logs = ["sizes.txt"]
copyright = "Copyright (c) 2020 Somebody"

[[marker]]
ui = "swagger"
component = "dompurify"
file = "ui.js"
pattern = 'DOMPurify\\.version="([\\d.]+)"'
fixed = "3.4.11"
"""


def pack(folder: Path, files: dict[str, str]) -> Path:
    """Writes a package as `npm pack` does."""
    folder.mkdir(exist_ok=True)
    path = folder / "some-ui-1.2.3.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def list_components(found: set[Component]) -> str:
    rows = [
        {"name": each.name, "version": each.version, "license": "MIT"} for each in sorted(found)
    ]
    return json.dumps({"swagger": rows})


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """A copy of the package that is built from a package of the test."""
    tarball = pack(tmp_path / "tarballs", PACKED)
    root = tmp_path / "package"
    (root / "src/kit/openapi_ui").mkdir(parents=True)
    for name in ("build_assets.py", "LICENSE", "pyproject.toml"):
        shutil.copy(PACKAGE / name, root)
    (root / "assets.toml").write_text(SETTINGS.format(integrity=compute_integrity(tarball)))
    (root / "components.json").write_text(list_components(FOUND))
    monkeypatch.setenv(TARBALLS, str(tarball.parent))
    return find_places(root)


# --- The build --------------------------------------------------------------------------------


def test_files_and_licenses_are_written(places: Places) -> None:
    assert build(places) is True
    folder = places.assets / "swagger"
    assert {path.name: path.read_text() for path in folder.iterdir() if path.name != "LICENSE"} == {
        "ui.js": PACKED["dist/ui.js"],
        "NOTICE": PACKED["NOTICE"],
        "THIRD-PARTY.txt": (
            "@some/ui 1.2.3 (MIT) contains code of:\n\n@inner/part: MIT\n@lezer/lr 1.4.0: MIT\n"
            "@logged/lib: MIT\n@scalar/own: MIT\n@scalar/types 0.25.0: MIT\ndompurify: MIT\n"
            "vue 3.5.1: MIT\n"
        ),
    }
    license_ = (folder / "LICENSE").read_text()
    assert license_.startswith("MIT License\n\nCopyright (c) 2020 Somebody\n\nPermission")
    assert [path.name for path in places.root.glob(".assets-*")] == []


def test_second_build_needs_no_network(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    build(places)
    monkeypatch.delenv(TARBALLS)
    monkeypatch.setenv("PATH", "")
    assert build(places) is False


@pytest.mark.parametrize(
    "name",
    ["assets/swagger/ui.js", "assets/swagger/NOTICE", "sbom.cdx.json", "components.json"],
)
def test_files_that_are_others_are_made_again(places: Places, name: str) -> None:
    build(places)
    changed = (places.assets.parent if name.startswith("assets") else places.root) / name
    changed.write_text(changed.read_text() + "\n")
    assert not is_built(places)
    assert build(places) is True
    assert is_built(places)


def test_another_package_than_the_pinned_one(places: Places, tmp_path: Path) -> None:
    pack(tmp_path / "tarballs", {**PACKED, "dist/ui.js": "steal()"})
    with pytest.raises(AssetError, match=r"some-ui-1\.2\.3\.tgz has the integrity sha512-.*, expe"):
        build(places)
    assert not places.assets.exists()


def test_package_without_a_file(places: Places, tmp_path: Path) -> None:
    tarball = pack(tmp_path / "tarballs", {**PACKED, "other.txt": ""})
    settings = SETTINGS.format(integrity=compute_integrity(tarball)).replace("NOTICE", "COPYING")
    (places.root / "assets.toml").write_text(settings)
    with pytest.raises(AssetError, match=r"some-ui-1\.2\.3\.tgz has no file COPYING"):
        build(places)


@pytest.mark.parametrize(
    "listed",
    [
        FOUND - {Component("dompurify", "")},
        FOUND | {Component("gone", "1.0.0")},
        (FOUND - {Component("vue", "3.5.1")}) | {Component("vue", "3.5.0")},
    ],
)
def test_components_that_are_not_listed_as_they_are(places: Places, listed: set[Component]) -> None:
    (places.root / "components.json").write_text(list_components(listed))
    with pytest.raises(AssetError, match=r"doesn't list the components of swagger: run scripts/"):
        build(places)


def test_version_that_only_the_code_tells(places: Places) -> None:
    known = (FOUND - {Component("dompurify", "")}) | {Component("dompurify", "3.4.17")}
    (places.root / "components.json").write_text(list_components(known))
    assert build(places) is True


def test_package_that_is_not_there(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TARBALLS, str(places.root))
    with pytest.raises(AssetError, match=r"there is no some-ui-1\.2\.3\.tgz in .* of KIT_OPENAPI"):
        build(places)
    monkeypatch.delenv(TARBALLS)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(AssetError, match=r"`npm pack @some/ui@1\.2\.3 .*` needs npm, which comes"):
        build(places)


def test_components_of_source_maps_and_logs(tmp_path: Path) -> None:
    with tarfile.open(pack(tmp_path, PACKED)) as archive:
        archive.extractall(tmp_path, filter="data")
    pin = {"source_maps": ["dist/ui.js.map"], "size_logs": ["sizes.txt"]}
    assert find_components(pin, tmp_path / "package") == FOUND


def test_bill_of_materials() -> None:
    bill = describe_bundles(PACKAGE)
    assert bill == json.loads((PACKAGE / "sbom.cdx.json").read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    components = {each["bom-ref"]: each for each in bill["components"]}
    assert len(components) == len(bill["components"]) > 250
    swagger = next(each for each in bill["components"] if each["name"] == "swagger-ui-dist")
    assert [each["alg"] for each in swagger["hashes"]] == ["SHA-512"]
    assert swagger["licenses"] == [{"license": {"id": "Apache-2.0"}}]
    needed = {each["ref"]: each["dependsOn"] for each in bill["dependencies"]}
    assert {*needed[bill["metadata"]["component"]["bom-ref"]]} < {*components}
    assert any(ref.startswith("pkg:npm/dompurify@3.") for ref in needed[swagger["bom-ref"]])
    assert {ref for refs in needed.values() for ref in refs} == {*components}
    assert all(each["licenses"] for each in components.values())


# --- The check --------------------------------------------------------------------------------


class Registry(ThreadingHTTPServer):
    """The part of an npm registry that the check asks."""

    advisories: dict[str, list[dict[str, Any]]]
    audited: dict[str, list[str]]
    newest: str


class RegistryHandler(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        name = unquote(self.path[1:])
        versions = ("3.5.1", "3.5.9") if name == "vue" else ("1.2.3", self.server.newest)
        self._answer(
            {
                "name": name,
                "dist-tags": {"latest": versions[-1]},
                "versions": {each: {"name": name, "version": each} for each in versions},
            }
        )

    def do_POST(self) -> None:
        assert self.path == "/-/npm/v1/security/advisories/bulk"
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.audited = json.loads(gzip.decompress(body))
        self._answer(self.server.advisories)

    def _answer(self, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing."""


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Registry]:
    with Registry(("127.0.0.1", 0), RegistryHandler) as server:
        server.advisories, server.audited, server.newest = {}, {}, "1.2.3"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        for name, value in {
            "registry": f"http://127.0.0.1:{server.server_port}/",
            "fetch_retries": "0",
            "cache": str(tmp_path / "cache"),
        }.items():
            monkeypatch.setenv(f"npm_config_{name}", value)
        yield server
        server.shutdown()
        thread.join()


Printed = Callable[[], str]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    return lambda: capsys.readouterr().out


@needs_npm
def test_nothing_known(places: Places, registry: Registry, printed: Printed) -> None:
    build(places)
    assert ui_assets.check(places.root) == 0
    assert printed() == (
        "dompurify 3.4.17 in ui.js: at least 3.4.11\n"
        "@some/ui 1.2.3: the newest version\n"
        "asked for advisories about 4 packages\n"
        "no known vulnerabilities\n"
    )
    assert registry.audited == {
        "@lezer/lr": ["1.4.0"],
        "@scalar/types": ["0.25.0"],
        "@some/ui": ["1.2.3"],
        "vue": ["3.5.1"],
    }


@needs_npm
def test_newer_version_and_an_advisory(
    places: Places, registry: Registry, printed: Printed
) -> None:
    registry.newest = "1.3.0"
    registry.advisories = {
        "vue": [
            {
                "id": 7,
                "url": "https://advisories.test/7",
                "title": "XSS in templates",
                "severity": "high",
                "vulnerable_versions": "<3.5.2",
            }
        ]
    }
    build(places)
    assert ui_assets.check(places.root) == 1
    said = printed()
    assert "@some/ui 1.2.3: OUT OF DATE, the newest is 1.3.0\n" in said
    assert "VULNERABLE: vue <3.5.2: XSS in templates (high), https://advisories.test/7\n" in said


@needs_npm
def test_registry_that_does_not_answer(
    places: Places, registry: Registry, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(places)
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:1/")
    assert ui_assets.check(places.root) == 2
    said = printed()
    assert "NOT CHECKED for newer versions, the npm registry doesn't tell: " in said
    assert "NOT CHECKED for advisories, the npm registry doesn't tell: " in said
    assert "no known" not in said


@pytest.mark.parametrize("version", ["3.1.4", "3.4.9", "3.4.10"])
def test_old_component_in_the_code(
    places: Places, tmp_path: Path, version: str, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f'DOMPurify.version="{version}"'
    tarball = pack(tmp_path / "tarballs", {**PACKED, "dist/ui.js": code})
    settings = SETTINGS.format(integrity=compute_integrity(tarball))
    (places.root / "assets.toml").write_text(settings)
    build(places)
    monkeypatch.setenv("PATH", "")  # whatever npm would tell
    assert ui_assets.check(places.root) == 1
    assert f"VULNERABLE: dompurify {version} in ui.js: fixed in 3.4.11\n" in printed()


def test_code_that_does_not_tell_its_version(places: Places, tmp_path: Path) -> None:
    tarball = pack(tmp_path / "tarballs", {**PACKED, "dist/ui.js": "minified()"})
    settings = SETTINGS.format(integrity=compute_integrity(tarball))
    (places.root / "assets.toml").write_text(settings)
    build(places)
    with pytest.raises(SystemExit, match=r"ui\.js has no match for the pattern of dompurify in"):
        ui_assets.check(places.root)


def test_sanitizer_of_the_pinned_swagger_ui() -> None:
    [marker] = ui_assets.read_markers(PACKAGE)
    assert marker["component"] == "dompurify"
    assert [*ui_assets.find_old_components(PACKAGE)] == []
    file = find_places(PACKAGE).assets / "swagger" / marker["file"]
    version = ui_assets.read_marked_version(file, marker)
    assert ui_assets.parse_version(version) >= (3, 4, 11)
    [listed] = [
        each
        for each in json.loads((PACKAGE / "components.json").read_text())["swagger"]
        if each["name"] == "dompurify"
    ]
    assert listed["version"] == version


def test_hosts_of_registries_are_not_committed() -> None:
    for name in ("assets.toml", "components.json", "build_assets.py", "hatch_build.py"):
        assert "://" not in (PACKAGE / name).read_text(), name
    assert sys.modules["build_assets"].__file__ == str(PACKAGE / "build_assets.py")
