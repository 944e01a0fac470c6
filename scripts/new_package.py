# SPDX-License-Identifier: MIT
"""Creates a package that passes `.ci/run` as it is.

    python scripts/new_package.py kit-hello --middleware
    python scripts/new_package.py kit-hello --description "Greetings for the Kit web framework."

The package is packages/kit-hello, imported as `kit.hello`: a tiny middleware or function with
README, changelog, tests and a type test, all to be replaced. It is added to the central files that
list every package, see central.py.
"""

from __future__ import annotations

import argparse
import builtins
import keyword
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import central
import reference
import release
import workspace
from workspace import AUTHORING, INTERFACE, ROOT

TEMPLATE = Path(__file__).resolve().parent / "template"
# The code of a middleware is that of `kit new --template plugin-middleware`.
PLUGIN = ROOT / "packages/kit-dev/src/kit/dev/_templates/plugin-middleware/src"
LICENCE = "# SPDX-License-Identifier: MIT\n"
NAME = re.compile(r"kit((?:-[a-z0-9]+)+)")
# The longest values that fit in the lines of the template.
MOST_NAME = 24
MOST_DESCRIPTION = 90


def check_name(name: str, packages: Mapping[str, workspace.Package]) -> str:
    """Returns the name of a package in code; exits with an error if its name can't be used."""
    found = NAME.fullmatch(name)
    if found is None or name[4].isdigit():
        release.refuse(
            f"{name!r} can't be the name of a package: expected kit- and words of small letters "
            "and digits with hyphens between them, e.g. kit-body-limit"
        )
    if len(name) > MOST_NAME + len("kit-"):
        release.refuse(f"{name!r} is too long: at most {MOST_NAME} characters may follow kit-")
    word = found[1][1:].replace("-", "_")
    if (ROOT / "packages" / name).exists():
        release.refuse(f"there is a package {name} already: see packages/{name}")
    for package in packages.values():
        if {word, f"{word}.py"} & package.entries:
            release.refuse(f"kit.{word} belongs to {package.name}: choose another name")
    if keyword.iskeyword(word):
        release.refuse(f"kit.{word} can't be imported, {word!r} is a keyword: choose another name")
    if hasattr(builtins, word):
        release.refuse(f"a function {word!r} would hide the builtin: choose another name")
    if word.startswith("test"):
        release.refuse(f"pytest would take a function {word!r} for a test: choose another name")
    return word


def check_plugin(name: str, packages: Mapping[str, workspace.Package]) -> None:
    """Exits with an error if another package registers a middleware of this name."""
    for package in packages.values():
        if name in package.project.get("entry-points", {}).get("kit.middleware", {}):
            release.refuse(f"{package.name} registers a middleware {name!r}: choose another name")


def check_description(text: str) -> str:
    """Returns a description with a full stop; exits with an error if it isn't usable everywhere."""
    text = text.strip()
    if not re.fullmatch(r'[A-Z0-9][^"\\|`\n]*', text):
        release.refuse(
            f"--description {text!r}: expected one line that begins with a capital letter, without "
            'double quotes, backslashes, backticks and "|"'
        )
    text = text.removesuffix(".") + "."
    if len(text) > MOST_DESCRIPTION:
        release.refuse(
            f"--description has {len(text)} characters, with the full stop: at most "
            f"{MOST_DESCRIPTION} fit"
        )
    return text


def values_for(name: str, word: str, given: argparse.Namespace) -> dict[str, str]:
    """Returns the values for the placeholders of the template."""
    plugin = name.removeprefix("kit-")
    header = "-".join(["X", *(part.capitalize() for part in plugin.split("-"))])
    what = f"sets the header {header}" if given.middleware else "names method and path of a request"
    kind = "Middleware" if given.middleware else "Helper"
    description = given.description or f"{kind} for the Kit web framework that {what}."
    others = release.packages()
    tools = [AUTHORING] if given.middleware else []  # the template checks an option
    needed = dict.fromkeys([*tools, INTERFACE, *given.depends])
    ranges = {each: release.find(each, others).version.range() for each in needed}
    keywords = ["web", "framework", "asgi", "http", "kit", *(["middleware"] * given.middleware)]
    entry_point = f'\n[project.entry-points."kit.middleware"]\n{plugin} = "kit.{word}:{word}"\n'
    return {
        "name": name,
        "plugin": plugin,
        "module": f"kit.{word}",
        "function": word,
        "header": header,
        "header_lower": header.lower(),
        "description": check_description(description),
        "keywords": ", ".join(f'"{each}"' for each in [*keywords, plugin.replace("-", " ")]),
        "dependencies": "".join(f'    "{each}{range_}",\n' for each, range_ in ranges.items()),
        "entry_points": entry_point if given.middleware else "",
    }


def sources(*, middleware: bool) -> dict[str, Path]:
    """Returns the files of the template by the paths that they have in a package."""
    kinds = ("common", "middleware" if middleware else "plain")
    folders = [(TEMPLATE / kind, "") for kind in kinds]
    if middleware:
        folders.append((PLUGIN, "src/kit/"))
    return {
        prefix + source.relative_to(folder).as_posix().removesuffix(".in"): source
        for folder, prefix in folders
        for source in sorted(folder.rglob("*.in"))
    }


def write(folder: Path, files: Mapping[str, Path], values: Mapping[str, str]) -> None:
    """Writes the files of a package."""
    for name, source in files.items():
        target = folder / name.replace("MODULE", values["function"])
        target.parent.mkdir(parents=True, exist_ok=True)
        text = source.read_text(encoding="utf-8")
        text = re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], text)
        if target.suffix == ".py" and not text.startswith(LICENCE):
            text = LICENCE + text
        target.write_text(text, encoding="utf-8")
    (folder / "LICENSE").write_text((ROOT / "LICENSE").read_text(encoding="utf-8"))
    # The order of imports and the wrapping of long lines depend on the name.
    ruff = (sys.executable, "-m", "ruff")
    for command in (("check", "--quiet", "--select", "I", "--fix"), ("format", "--quiet")):
        subprocess.run([*ruff, *command, str(folder)], cwd=ROOT, check=True)


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", help="name of the distribution, e.g. kit-body-limit")
    parser.add_argument("--middleware", action="store_true", help="make middleware")
    parser.add_argument("--description", help="one sentence, for package index and tables")
    parser.add_argument(
        "--depends",
        metavar="PACKAGE",
        action="append",
        default=[],
        help=f"a package of Kit that it needs beside {INTERFACE}; may be repeated",
    )
    given = parser.parse_args()
    name: str = given.name
    packages = workspace.packages()
    word = check_name(name, packages)
    if given.middleware:
        check_plugin(name.removeprefix("kit-"), packages)
    values = values_for(name, word, given)
    folder = ROOT / "packages" / name
    write(folder, sources(middleware=given.middleware), values)
    print(f"made {folder.relative_to(ROOT)}, imported as kit.{word}")
    for path in dict.fromkeys([*central.write(workspace.packages()), *reference.write()]):
        print(f"wrote {path.relative_to(ROOT)}")
    print(f"Run 'uv sync' and 'uv run pytest packages/{name}', then replace the template's code.")


if __name__ == "__main__":
    main()
