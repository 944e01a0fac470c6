# SPDX-License-Identifier: MIT
"""`scripts/check_tree.py` on a copy of the repository: what it misses, and what it writes."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator

import pytest
from checkout import Checkout
from commands import run

pytestmark = pytest.mark.once

FINE = "the tree is as it should be\n"
LOGGER = "packages/kit-logger"
CORE = "packages/kit-core/src/kit"
SOURCE = "kit-logger = { workspace = true }\n"
PATH = '    "packages/kit-logger/src",\n'
IN_ALL = '    "kit-powered-by>=0.1,<0.2",\n'  # in no other extra
README_ROW = "| [kit-logger](packages/kit-logger) | `kit.logger`: Request logging middleware |\n"
REFERENCE_ROW = "| [`kit.logger`](kit.logger.md) | kit-logger | `logger` |\n"
INDEX_ROW = "| `kit-logger` | `kit.logger`: a line for each request and each answer |\n"


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Checkout, dict[str, bytes]]:
    """A copy of what the script reads, with the content of its files."""
    folder = tmp_path_factory.mktemp("checkout") / "kit"
    checkout = Checkout(folder, without=("benchmarks", "examples", "tests"))
    return checkout, checkout.files()


@pytest.fixture
def checkout(untouched: tuple[Checkout, dict[str, bytes]]) -> Iterator[Checkout]:
    """A copy of the repository, which is restored for the next test."""
    copy, files = untouched
    yield copy
    copy.restore(files)


def check(checkout: Checkout, *arguments: str) -> str:
    """What the script prints, with an exit code that fits it."""
    script = checkout.root / "scripts" / "check_tree.py"
    command = '"$@" && echo passed || echo failed with $?'
    said = run("bash", "-c", command, "bash", sys.executable, script, *arguments)
    text, _, result = said.rstrip().rpartition("\n")
    assert result == ("passed" if text.endswith(FINE.rstrip()) else "failed with 1")
    return text + "\n"


def test_the_tree_of_this_repository_is_as_it_should_be(checkout: Checkout) -> None:
    before = checkout.files()
    assert check(checkout) == check(checkout, "--write") == FINE
    assert checkout.files() == before


MISSING = [
    ("packages/kit-core/pyproject.toml", IN_ALL, IN_ALL),
    ("pyproject.toml", SOURCE, SOURCE),
    ("pyproject.toml", PATH, PATH),
    ("README.md", README_ROW, README_ROW),
    (
        "docs/packages/index.md",
        INDEX_ROW,
        "| `kit-logger` | `kit.logger`: Request logging middleware |\n",
    ),
    (
        "docs/reference/index.md",
        REFERENCE_ROW,
        "| [`kit.logger`](kit.logger.md) | kit-logger | Request logging middleware |\n",
    ),
]
UNEXPECTED = [
    ("packages/kit-core/pyproject.toml", IN_ALL, '    "kit-gone>=0.1,<0.2",\n'),
    ("pyproject.toml", SOURCE, "kit-gone = { workspace = true }\n"),
    ("pyproject.toml", PATH, '    "packages/kit-gone/src",\n'),
    (
        "docs/reference/index.md",
        REFERENCE_ROW,
        "| [`kit.gone`](kit.gone.md) | kit-gone | `gone` |\n",
    ),
]


def test_missing_lines_of_the_central_places_are_written(checkout: Checkout) -> None:
    for file, line, _ in MISSING:
        checkout.edit(file, line, "")
    assert check(checkout) == "".join(
        f"{file}: missing line: {expected.strip()!r}\n" for file, _, expected in MISSING
    )
    wrote = "".join(f"wrote {file}\n" for file in dict.fromkeys(file for file, *_ in MISSING))
    assert check(checkout, "--write") == f"{wrote}{FINE}"
    assert check(checkout) == FINE


def test_unexpected_lines_of_the_central_places_are_taken_out(checkout: Checkout) -> None:
    before = checkout.files()
    for file, line, more in UNEXPECTED:
        checkout.edit(file, line, line + more)
    assert check(checkout) == "".join(
        f"{file}: unexpected line: {more.strip()!r}\n" for file, _, more in UNEXPECTED
    )
    check(checkout, "--write")
    assert checkout.files() == before


def test_the_row_of_another_distribution_is_corrected(checkout: Checkout) -> None:
    other = REFERENCE_ROW.replace("| kit-logger", "| kit-core")
    checkout.edit("docs/reference/index.md", REFERENCE_ROW, other)
    assert check(checkout) == (
        f"docs/reference/index.md: missing line: {REFERENCE_ROW.rstrip()!r}\n"
        f"docs/reference/index.md: unexpected line: {other.rstrip()!r}\n"
    )
    check(checkout, "--write")
    assert REFERENCE_ROW in checkout.read("docs/reference/index.md")


def test_the_order_counts(checkout: Checkout) -> None:
    checkout.edit("pyproject.toml", SOURCE, "")
    checkout.edit("pyproject.toml", "[tool.uv.sources]\n", f"[tool.uv.sources]\n{SOURCE}")
    assert check(checkout) == (f"pyproject.toml: line out of order: {SOURCE.rstrip()!r}\n")


def test_a_page_of_the_reference_is_written(checkout: Checkout) -> None:
    page = checkout.root / "docs/reference/kit.logger.md"
    text = page.read_text()
    page.unlink()
    assert check(checkout) == (
        "docs/reference/kit.logger.md: no such page; each import name of a package has one\n"
    )
    check(checkout, "--write")
    assert page.read_text() == text


def test_a_table_that_is_gone_is_named(checkout: Checkout) -> None:
    checkout.edit("README.md", "| distribution | what is in it |\n", "")
    script = checkout.root / "scripts" / "check_tree.py"
    said = run(sys.executable, script, code=1)
    assert said.startswith("error: README.md: expected lines that match ")


def remove(name: str) -> Callable[[Checkout], None]:
    def remove(checkout: Checkout) -> None:
        path = checkout.root / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()

    return remove


def add(name: str, text: str = "") -> Callable[[Checkout], None]:
    return lambda checkout: checkout.write(name, text)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (remove(f"{LOGGER}/README.md"), "kit-logger: no README.md"),
        (remove(f"{LOGGER}/LICENSE"), "kit-logger: no LICENSE"),
        (remove(f"{LOGGER}/tests"), "kit-logger: no tests"),
        (add(f"{LOGGER}/src/kit/more/__init__.py"), "kit-logger: no kit/more/py.typed"),
        (
            add(f"{LOGGER}/src/kit/more.py"),
            "kit-logger: kit/more.py is not a folder; put it into one with a py.typed",
        ),
        (
            add("packages/kit-dev/src/kit/__other__.py"),
            "kit-dev: kit/__other__.py is not a folder; put it into one with a py.typed",
        ),
        (
            add(f"{LOGGER}/src/kit/web/_more.py"),
            "kit-logger: no kit/web/py.typed\nkit/web is in kit-core and in kit-logger",
        ),
        (
            lambda checkout: checkout.edit(
                f"{LOGGER}/pyproject.toml", 'name = "kit-logger"', 'name = "kit-log"'
            ),
            "kit-logger: its pyproject.toml names it 'kit-log'",
        ),
        (
            add(f"{LOGGER}/src/kit/__init__.py"),
            "kit-logger: kit/__init__.py belongs to kit-core alone\n"
            "kit/__init__.py is in kit-core and in kit-logger",
        ),
        (
            remove(f"{CORE}/__init__.py"),
            "kit-core: no kit/__init__.py",
        ),
        (remove(f"{CORE}/py.typed"), "kit-core: no kit/py.typed"),
        (
            add("packages/kit-more/notes.txt"),
            "kit-more: no pyproject.toml\nkit-more: no README.md\nkit-more: no CHANGELOG.md\n"
            "kit-more: no LICENSE\nkit-more: no src/kit\nkit-more: no tests",
        ),
        (
            lambda checkout: checkout.edit(f"{CORE}/__init__.py", ".extend_path(", ".keep("),
            "kit-core: kit/__init__.py must extend __path__, or it hides its siblings",
        ),
        (
            lambda checkout: checkout.write(f"{CORE}/web/_long.py", "x = 1\n" * 500),
            FINE.rstrip(),
        ),
    ],
)
def test_shape(checkout: Checkout, change: Callable[[Checkout], None], said: str) -> None:
    change(checkout)
    # What the central places say of the modules that are there now is another matter.
    central = ("README.md: ", "docs/")
    lines = [line for line in check(checkout).splitlines() if not line.startswith(central)]
    assert "\n".join(lines) == said


def test_a_package_may_own_several_folders(checkout: Checkout) -> None:
    """As kit-interface with kit.conninfo; its place in the tables follows."""
    for name in ("more", "others"):
        checkout.write(f"{LOGGER}/src/kit/{name}/__init__.py", "")
        checkout.write(f"{LOGGER}/src/kit/{name}/py.typed", "")
    assert check(checkout, "--write") == (
        "wrote README.md\nwrote docs/packages/index.md\nwrote docs/reference/index.md\n"
        f"wrote docs/reference/kit.more.md\nwrote docs/reference/kit.others.md\n{FINE}"
    )
    assert "| `kit.logger`, `kit.more`, `kit.others`: Request" in checkout.read("README.md")
    assert (
        "| [`kit.more`](kit.more.md) | kit-logger | Request logging middleware |\n"
    ) in checkout.read("docs/reference/index.md")
