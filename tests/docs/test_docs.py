# SPDX-License-Identifier: MIT
"""Docs and READMEs: their code does what they say, nothing public is left out, the site is sound.

See document_runner.py for how the blocks of a page are run.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import documents
import pytest
import workspace
from commands import run
from document_runner import Reader
from documents import ROOT

pytestmark = pytest.mark.once

PAGES = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md"))
READMES = (
    "README.md",
    "examples/bookshelf/README.md",
    "examples/chat/README.md",
    "examples/conduit/README.md",
    "examples/scaling/README.md",
    "examples/site/README.md",
    *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("packages/*/README.md")),
)
# Pages with code that other tests follow.
FOLLOWED_BY = {
    "docs/clients.md": "tests/clients/test_clients_page.py",
    "docs/publish-middleware.md": "tests/docs/test_docs_projects.py",
    "docs/publish-router.md": "tests/docs/test_docs_projects.py",
    "examples/plugin-middleware/README.md": "tests/packaging/test_plugin_middleware.py",
    "examples/plugin-router/README.md": "tests/packaging/test_plugin_router.py",
}
# Pages whose code takes seconds, mostly as other libraries are slow to import.
SLOW = {
    "docs/admin.md",
    "docs/email.md",
    "docs/graphql.md",
    "docs/llm-streams.md",
    "docs/openai-compatible.md",
    "docs/sentry.md",
    "docs/socketio.md",
}
# Those for developers of Kit itself: their commands take a clone, the network, or half an hour.
FOR_DEVELOPERS = {"CONTRIBUTING.md", "benchmarks/README.md"}
REFERENCE = "docs/reference/"
PACKAGES = workspace.packages()
# Public modules whose names are for no user: the innermost of the core, and the `kit` command.
NOT_SHOWN = {"kit.dev.cli"}
# Texts on the page for troubleshooting: of Python, of browsers, and what isn't a message.
SAID_BY_OTHERS = {
    "No module named 'kit...'",
    "cannot import name 'Kit' from 'kit'",
    "coroutine '...' was never awaited",
    "serve() missing 2 required positional arguments",
    "No 'Access-Control-Allow-Origin' header is present",
}
# Words that the search of the site finds, and the page that it shows first.
SEARCHED = {
    "cors": "cors",
    "openapi": "openapi",
    "websocket": "websocket",
    "sqlalchemy": "databases",
    "jwt": "packages/jwt",
    "authentication": "authentication",
    "session": "packages/session",
    "templates": "packages/templates",
    "static files": "static-files-and-templates",
    "logging": "logging",
    "dependency injection": "dependency-injection",
    "mypy": "type-checking",
    "changelog": "changelog",
    "port is taken": "troubleshooting",
    "login": "users-and-login",
    "middleware": "middleware",
    "errors": "errors",
    "kit dev": "kit-command",
    "deploy": "deployment",
    "docker": "deployment",
    "upload": "request",
    "rate limit": "packages/rate-limit",
    "htmx": "htmx",
    "streaming": "streaming",
    "graphql": "graphql",
    "admin": "admin",
    "sentry": "sentry",
    "openai": "openai-compatible",
}
# Names that another library documents.
OF_OTHERS = {"FromDishka"}
# Every other public module that says what its public names are: the reference has them all.
MODULES = sorted(
    module
    for package in PACKAGES.values()
    for module, path in package.modules.items()
    if module not in NOT_SHOWN
    and not any(part.startswith("_") for part in module.split("."))
    and re.search(r"^__all__\b", path.read_text(), re.MULTILINE)
)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] * (page in SLOW))
        for page in PAGES
        if page not in FOLLOWED_BY
    ],
)
def test_page_is_true(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Reader(documents.read(page), tmp_path).follow()


@pytest.mark.parametrize("page", READMES)
def test_readme_is_true(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    without = shutil.ignore_patterns("*.db*", "*.secret", "__pycache__", "tests")
    for example in ("bookshelf", "chat", "conduit", "site"):
        shutil.copytree(
            ROOT / "examples" / example, tmp_path / "examples" / example, ignore=without
        )
    Reader(documents.read(page), tmp_path).follow()


def test_all_code_is_run() -> None:
    """That of every page of the repository, by one test or another."""
    pages = [*ROOT.glob("*.md")]
    for folder in ("docs", "examples", "packages", "benchmarks"):
        pages += ROOT.glob(f"{folder}/**/*.md")
    names = {str(page.relative_to(ROOT)) for page in pages if ".pytest_cache" not in page.parts}
    with_code = {name for name in names if documents.read(name).blocks}
    assert with_code - {*PAGES, *READMES, *FOLLOWED_BY} == FOR_DEVELOPERS
    assert [test for test in FOLLOWED_BY.values() if not (ROOT / test).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_page_says_what_it_is_for(page: str) -> None:
    """A title, and a sentence before anything else."""
    document = documents.read(page)
    assert [heading.level for heading in document.headings].count(1) == 1
    if not page.startswith(REFERENCE):
        text = re.sub(r"\A---\n.*?\n---\n", "", document.prose, flags=re.DOTALL)
        assert text.startswith("# ")
        assert re.match(r"[A-Z]\w+ ", text.splitlines()[1]), page


@pytest.mark.parametrize("page", [*(p for p in PAGES if not p.startswith(REFERENCE)), *READMES])
def test_page_says_what_to_install(page: str) -> None:
    """Where its code imports what kit-core doesn't bring."""
    document = documents.read(page)
    code = "\n".join(block.text for block in document.blocks if block.language == "python")
    imported = {*re.findall(r"^(?:from|import) (kit\.\w+)", code, re.MULTILINE)}
    owners = {leaf: each.name for each in PACKAGES.values() for leaf in each.leaves}
    wanted = {owners[module] for module in imported if module in owners}
    text = "\n".join([document.prose, *(block.text for block in document.blocks)])
    named = {"kit-core"}
    for line in re.findall(r"(?:pip install|dependencies = |test = )(.*)", text):
        for name, extra in re.findall(r"(kit-\w+(?:-\w+)*)(?:\[(\w+)\])?", line):
            extras = PACKAGES[name].project.get("optional-dependencies", {})
            brought = re.findall(r"kit-[\w-]+", " ".join(extras.get(extra, ())))
            named |= {name, *brought}
    assert wanted - workspace.needed(named, PACKAGES) == set()


@pytest.mark.parametrize("page", [*PAGES, *READMES, "CONTRIBUTING.md", "SECURITY.md"])
def test_links_lead_somewhere(page: str) -> None:
    assert documents.dead_links(page) == []


def test_no_page_is_an_island() -> None:
    """Each but the first is linked from another page, beside the navigation."""
    linked = set()
    for page in PAGES:
        for link in documents.read(page).links:
            path = link.partition("#")[0]
            if path and "://" not in path:
                linked.add(os.path.normpath(Path(page).parent / path))
    assert {*PAGES} - linked - {"docs/index.md"} == set()


def test_every_middleware_is_listed() -> None:
    """In the table of the docs, by a line that names its distribution and its factory."""
    rows = re.findall(
        r"^\| \[(kit-[\w-]+)\].*", documents.read("docs/packages/index.md").prose, re.M
    )
    made = {
        name
        for name, package in PACKAGES.items()
        if "kit.middleware" in package.project.get("entry-points", {})
    }
    assert sorted(rows) == rows
    assert {*rows} == made


def test_troubleshooting_quotes_what_is_said() -> None:
    """Each text in a heading is printed by a block of the page, or in the code of a package."""
    document = documents.read("docs/troubleshooting.md")
    sources = [path.read_text() for each in PACKAGES.values() for path in each.source.rglob("*.py")]
    # A literal may go over several lines.
    said = re.sub(r'"\n\s*f?"', "", "\n".join(sources))
    said += "\n".join(b.text for b in document.blocks if b.language in ("console", "text"))
    text = (ROOT / document.name).read_text()
    quoted = [*re.findall(r"^###.*?`([^`\n]+)`", text, re.MULTILINE)]
    assert len(quoted) > 10
    parts = {part for quote in quoted if quote not in SAID_BY_OTHERS for part in quote.split("...")}
    assert [part for part in parts if part not in said] == []


class Site(HTMLParser):
    """What there is on a page of the built site: places that can be linked to, and links."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.ids.add(value or "")
            elif name in ("href", "src") and value:
                self.links.add(value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the site is built, in the folder `site`."""
    return tmp_path_factory.mktemp("site")


@pytest.fixture(scope="module")
def site(folder: Path) -> dict[Path, Site]:
    """The pages of the site, built in a folder of its own."""
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    for name in ("packages", "scripts"):
        (folder / name).symlink_to(ROOT / name)
    # Strict: a link or anchor that leads nowhere is an error. Screenshots take a browser, see
    # test_site_hooks.py.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIT_SCREENSHOTS", "no")
        run(sys.executable, "-m", "mkdocs", "build", "--clean", "--strict", cwd=folder)
    built = folder / "site"
    return {path.relative_to(built): Site(path) for path in built.rglob("*.html") if path.is_file()}


@pytest.mark.once
def test_site_is_whole(site: dict[Path, Site]) -> None:
    for page in PAGES:
        name = Path(page).relative_to("docs").with_suffix("")
        built = name.with_suffix("").parent if name.name == "index" else name
        assert built / "index.html" in site, page
    dead = set()
    for path, shown in site.items():
        for link in shown.links:
            url = urlsplit(link)
            if url.scheme or url.netloc or path == Path("404.html"):
                continue
            target = _resolved(path.parent / unquote(url.path)) if url.path else path
            if target.suffix not in (".html", ""):
                continue
            # The folder of the page of the module kit.html has a name that ends like one of a file.
            found = site.get(target) or site.get(target / "index.html")
            if found is None or (url.fragment and unquote(url.fragment) not in found.ids):
                dead.add((str(path), link))
    # The theme scrolls to the top by it.
    assert {each for each in dead if each[1] not in ("#", "#__skip")} == set()


@pytest.mark.once
def test_reference_has_all_public_names(site: dict[Path, Site]) -> None:
    pages = [built for path, built in site.items() if path.parts[0] == "reference"]
    shown = {anchor.rpartition(".")[2] for built in pages for anchor in built.ids}
    for name in MODULES:
        module = importlib.import_module(name)
        names = {
            each for each in module.__all__ if not isinstance(getattr(module, each), ModuleType)
        }
        assert names - shown - OF_OTHERS == set(), name


@pytest.mark.once
def test_site_has_all_changelogs(folder: Path, site: dict[Path, Site]) -> None:
    shown = site[Path("changelog/index.html")]
    assert {*PACKAGES} <= shown.ids
    assert "kit-dev-010" in shown.ids
    assert "## [Unreleased]" not in (folder / "site/changelog/index.html").read_text()


@pytest.mark.once
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.usefixtures("site")
def test_search_finds_the_right_page_first(folder: Path) -> None:
    """Asks the program that searches in the browsers of readers."""
    found = run("node", ROOT / "tests/support/site_search.js", folder / "site", *SEARCHED)
    first = {
        words: locations[0].partition("#")[0].rstrip("/")
        for words, locations in json.loads(found).items()
    }
    assert first == SEARCHED


def _resolved(path: Path) -> Path:
    """A relative path without `..`."""
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return Path(*parts)
