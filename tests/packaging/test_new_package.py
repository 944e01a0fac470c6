# SPDX-License-Identifier: MIT
"""`scripts/new_package.py` on a copy of the repository: what it makes, and what it refuses."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest
from checkout import Checkout
from commands import run

pytestmark = pytest.mark.once

# A name that nobody takes: the tests of a repository with kit-hello pass as well.
SAMPLE = "kit-sample-for-tests"
FOLDER = f"packages/{SAMPLE}"
# The longest names that there may be, with a digit, and a long description.
LONG = "kit-oauth2-device-and-tokens"
LONG_MIDDLEWARE = "kit-sign-and-verify-cookies2"
DESCRIPTION = "Names of what is asked for, as the providers have them, for the Kit web framework"


def script(checkout: Checkout, *arguments: str, code: int = 0) -> str:
    return run(sys.executable, checkout.root / "scripts/new_package.py", *arguments, code=code)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """For what is refused before anything is written."""
    folder = tmp_path_factory.mktemp("untouched") / "kit"
    return Checkout(folder, without=("benchmarks", "examples", "tests"))


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A repository with three packages more, of both kinds."""
    checkout = Checkout(tmp_path_factory.mktemp("extended") / "kit")
    assert script(checkout, SAMPLE, "--middleware") == (
        f"made {FOLDER}, imported as kit.sample_for_tests\n"
        "wrote docs/changelog.md\n"
        "wrote packages/kit-core/pyproject.toml\n"
        "wrote pyproject.toml\n"
        "wrote README.md\n"
        "wrote docs/packages/index.md\n"
        "wrote docs/reference/index.md\n"
        "wrote docs/reference/kit.sample_for_tests.md\n"
        f"Run 'uv sync' and 'uv run pytest {FOLDER}', then replace the template's code.\n"
    )
    script(checkout, LONG, "--description", DESCRIPTION, "--depends", "kit-core")
    script(checkout, LONG_MIDDLEWARE, "--middleware")
    return checkout


def test_middleware(extended: Checkout) -> None:
    names = {name.removeprefix(f"{FOLDER}/") for name in extended.files() if FOLDER in name}
    assert names == {
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "pyproject.toml",
        "src/kit/sample_for_tests/__init__.py",
        "src/kit/sample_for_tests/_header.py",
        "src/kit/sample_for_tests/py.typed",
        "tests/conftest.py",
        "tests/test_sample_for_tests.py",
        "tests/typing/sample_for_tests_types.py",
    }
    project = tomllib.loads(extended.read(f"{FOLDER}/pyproject.toml"))["project"]
    logger = extended.read("packages/kit-logger/pyproject.toml")
    assert [f'"{each}"' in logger for each in project["dependencies"]] == [True, True]
    assert project["entry-points"] == {
        "kit.middleware": {"sample-for-tests": "kit.sample_for_tests:sample_for_tests"}
    }
    shown = "Middleware that sets the header X-Sample-For-Tests"
    row = f"| [{SAMPLE}]({FOLDER}) | `kit.sample_for_tests`: {shown} |"
    assert f"\n{row}\n" in extended.read("README.md")


def test_plain_package(extended: Checkout) -> None:
    module = LONG.removeprefix("kit-").replace("-", "_")
    assert (extended.root / f"packages/{LONG}/src/kit/{module}/_request.py").exists()
    project = tomllib.loads(extended.read(f"packages/{LONG}/pyproject.toml"))["project"]
    names = [requirement.partition(">=")[0] for requirement in project["dependencies"]]
    assert names == ["kit-interface", "kit-core"]
    assert project["description"] == f"{DESCRIPTION}."
    assert "entry-points" not in project
    shown = DESCRIPTION.removesuffix(", for the Kit web framework")
    assert f"| [{LONG}](packages/{LONG}) | `kit.{module}`: {shown} |" in extended.read("README.md")


@pytest.mark.slow
def test_they_pass_as_they_are(extended: Checkout) -> None:
    """The checks of `.ci/run` that look at a package, in an environment of the copy."""
    root = extended.root
    run("uv", "sync", "--quiet", "--python", sys.executable, cwd=root)
    bin_ = root / ".venv" / "bin"

    def python(*arguments: str | Path) -> str:
        return run(bin_ / "python", *arguments, cwd=root)

    assert python("scripts/check_tree.py") == "the tree is as it should be\n"
    assert python("scripts/check_imports.py").endswith(" modules are as they should be\n")
    assert python("scripts/release.py", "check") == "versions, changelogs and ranges agree\n"
    new = [root / "packages" / name for name in (SAMPLE, LONG, LONG_MIDDLEWARE)]
    run(bin_ / "ruff", "check", "--quiet", *new, cwd=root)
    run(bin_ / "ruff", "format", "--quiet", "--check", *new, cwd=root)
    types = [path for folder in new for path in folder.glob("tests/typing/*.py")]
    said = run(bin_ / "mypy", *(folder / "src" for folder in new), *types, cwd=root)
    assert said == "Success: no issues found in 9 source files\n"
    pytest_ = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert " passed" in python(*pytest_, *new)
    about = (
        "sample_for_tests or oauth2 or sign_and or site_is_whole or all_public_names or island "
        "or all_code or docs/index or reference/index"
    )
    assert " passed" in python(*pytest_, "tests/docs/test_docs.py", "-k", about)
    assert python("-c", "from kit import sample_for_tests as made; print(*made.__all__)") == (
        "sample_for_tests\n"
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ("hello",),
            "'hello' can't be the name of a package: expected kit- and words of small letters and "
            "digits with hyphens between them, e.g. kit-body-limit",
        ),
        (
            ("kit-Body_Limit",),
            "'kit-Body_Limit' can't be the name of a package: expected kit- and words of small "
            "letters and digits with hyphens between them, e.g. kit-body-limit",
        ),
        (
            ("kit-2fa",),
            "'kit-2fa' can't be the name of a package: expected kit- and words of small letters "
            "and digits with hyphens between them, e.g. kit-body-limit",
        ),
        (
            ("kit-" + 25 * "x",),
            f"'kit-{25 * 'x'}' is too long: at most 24 characters may follow kit-",
        ),
        (("kit-logger",), "there is a package kit-logger already: see packages/kit-logger"),
        (("kit-web",), "kit.web belongs to kit-core: choose another name"),
        (("kit-app",), "kit.app belongs to kit-core: choose another name"),
        (("kit-router",), "kit.router belongs to kit-routers: choose another name"),
        (
            ("kit-lambda",),
            "kit.lambda can't be imported, 'lambda' is a keyword: choose another name",
        ),
        (("kit-filter",), "a function 'filter' would hide the builtin: choose another name"),
        (
            ("kit-test-data",),
            "pytest would take a function 'test_data' for a test: choose another name",
        ),
        (
            ("kit-trim-trailing-slash", "--middleware"),
            "kit-trailing-slash registers a middleware 'trim-trailing-slash': choose another name",
        ),
        (
            (SAMPLE, "--depends", "kit-validatr"),
            "there is no package 'kit-validatr': there are ",
        ),
        (
            (SAMPLE, "--description", 'a "greeting"'),
            "--description 'a \"greeting\"': expected one line that begins with a capital letter, "
            'without double quotes, backslashes, backticks and "|"',
        ),
        (
            (SAMPLE, "--description", "X" * 90),
            "--description has 91 characters, with the full stop: at most 90 fit",
        ),
    ],
)
def test_it_refuses(untouched: Checkout, arguments: tuple[str, ...], text: str) -> None:
    before = untouched.files()
    said = script(untouched, *arguments, code=1)
    if text.endswith(": there are "):
        assert said.startswith(f"error: {text}")
        assert said.endswith(". Did you mean 'kit-validator'?\n")
    else:
        assert said == f"error: {text}\n"
    assert untouched.files() == before
