# SPDX-License-Identifier: MIT
"""Checks the imports of all modules, and their accesses to each other's private attributes.

    python scripts/check_imports.py
    python scripts/check_imports.py --reaches FOLDER

The first form prints one line per problem, and exits with 1 if there are any:

- an import circle, including imports for type checkers and inside functions;
- an import from a distribution of Kit that the pyproject.toml does not declare;
- an import of a private module or a private name of another distribution;
- a private module at the top of `kit/`, where only rooms (folders) and public modules belong;
- too many reaches: attributes `other._name` of objects that another module defines.

The second form only counts the reaches in any folder, for comparison.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeGuard

import workspace

# Two thirds of them are in the functions that run each handler of each request, where a method or
# property of the context instead would take as long as the rest of a level.
MOST_REACHES = 100
SHOWN_MODULES = 10
# Public despite the underscore: methods and fields of named tuples.
PUBLIC = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}
# Attributes of these names belong to the object itself.
OWN = {"self", "cls"}


class Import(NamedTuple):
    """An import: of a module, or of a name and the module that it is imported from."""

    module: str
    name: str | None
    line: int
    # "", "for types" or "in a function".
    where: str


class Module:
    """A module, the distribution that owns it, and its syntax tree."""

    def __init__(self, name: str, path: Path, owner: str) -> None:
        self.name = name
        self.path = path
        self.owner = owner
        self.tree = ast.parse(path.read_text(encoding="utf-8"), str(path))

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.name if self.path.stem == "__init__" else self.name.rpartition(".")[0]


def is_private(name: str) -> bool:
    """Returns whether a name has a single leading underscore."""
    return name.startswith("_") and not name.startswith("__")


# --- Imports ----------------------------------------------------------------------------------


def imports(module: Module, known: Iterable[str]) -> Iterator[Import]:
    """Yields the imports of a module; a name that is itself a module is yielded as that module."""
    for node, where in _import_nodes([module.tree], ""):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, None, node.lineno, where)
            continue
        source = _source(module, node)
        for alias in node.names:
            inner = f"{source}.{alias.name}"
            if inner in known:
                yield Import(inner, None, node.lineno, where)
            else:
                yield Import(source, alias.name, node.lineno, where)


def _import_nodes(
    nodes: Iterable[ast.AST], where: str
) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    for node in nodes:
        inner = ast.iter_child_nodes(node)
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, where
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _import_nodes(inner, "in a function")
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            yield from _import_nodes(node.body, "for types")
            yield from _import_nodes(node.orelse, where)
        else:
            yield from _import_nodes(inner, where)


def _is_type_checking(test: ast.expr) -> bool:
    return getattr(test, "id", getattr(test, "attr", "")) == "TYPE_CHECKING"


def _source(module: Module, node: ast.ImportFrom) -> str:
    """Returns the absolute name of the module that an import is from."""
    if not node.level:
        return node.module or ""
    parts = module.package.split(".")
    base = parts[: len(parts) - node.level + 1]
    return ".".join([*base, node.module] if node.module else base)


def place(module: Module, line: int) -> str:
    """Returns file and line, for messages."""
    return f"{module.path.relative_to(workspace.ROOT)}:{line}"


def stranger_problems(
    modules: dict[str, Module], packages: dict[str, workspace.Package]
) -> Iterator[str]:
    """Yields imports from undeclared distributions, and of private modules or names of others."""
    for module in modules.values():
        for found in imports(module, modules):
            if found.module.partition(".")[0] == "kit":
                for problem in _stranger_problems(module, found, modules, packages):
                    yield f"{place(module, found.line)}: {problem}"


def _stranger_problems(
    module: Module,
    found: Import,
    modules: dict[str, Module],
    packages: dict[str, workspace.Package],
) -> Iterator[str]:
    target = modules.get(found.module)
    if target is None:
        yield f"imports {found.module}, which no package has"
        return
    if target.owner == module.owner:
        return
    declared = packages[module.owner].declares
    if target.owner not in declared:
        has = ", ".join(sorted(declared)) or "no distribution of Kit"
        yield (
            f"imports {found.module} of {target.owner}, but the pyproject.toml of {module.owner} "
            f"declares {has}"
        )
    if any(map(is_private, found.module.split("."))):
        yield f"imports {found.module}, a private module of {target.owner}"
    elif found.name is not None and is_private(found.name):
        yield f"imports {found.name} from {found.module}, a private name of {target.owner}"


def circle_problems(modules: dict[str, Module]) -> Iterator[str]:
    """Yields the shortest import circle of each module, each circle once."""
    graph: dict[str, dict[str, Import]] = {name: {} for name in modules}
    for module in modules.values():
        for found in imports(module, modules):
            # An import that runs at once takes precedence over others of the same module.
            others = graph[module.name]
            if found.module in modules and (
                found.module not in others or (others[found.module].where and not found.where)
            ):
                others[found.module] = found
    seen: set[frozenset[str]] = set()
    for start in sorted(graph):
        chain = _shortest_circle(graph, start)
        if chain and frozenset(chain) not in seen:
            seen.add(frozenset(chain))
            yield "import circle: " + " -> ".join([*_described(graph, chain), chain[0]])


def _shortest_circle(graph: dict[str, dict[str, Import]], start: str) -> list[str]:
    """Returns the modules of the shortest path from a module back to itself; empty if none."""
    came_from: dict[str, str] = {}
    waiting = deque([start])
    while waiting:
        name = waiting.popleft()
        for target in sorted(graph[name]):
            if target == start:
                chain = [name]
                while chain[-1] != start:
                    chain.append(came_from[chain[-1]])
                return chain[::-1]
            if target not in came_from:
                came_from[target] = name
                waiting.append(target)
    return []


def _described(graph: dict[str, dict[str, Import]], chain: list[str]) -> Iterator[str]:
    for name, target in zip(chain, [*chain[1:], chain[0]], strict=True):
        found = graph[name][target]
        remark = f", {found.where}" if found.where else ""
        yield f"{name} (line {found.line}{remark})"


def top_problems(packages: dict[str, workspace.Package]) -> Iterator[str]:
    """Yields private modules at the top of `kit/`."""
    for package in packages.values():
        for path in sorted(package.source.glob("kit/_*.py")):
            if is_private(path.stem):
                where = path.relative_to(workspace.ROOT)
                yield f"{where}: a private module at the top of kit/; it belongs in a folder"


# --- Reaches ----------------------------------------------------------------------------------


def reaches(tree: ast.Module) -> list[ast.Attribute]:
    """Lists accesses `other._name` to names that the module itself doesn't define."""
    own = _defined(tree) | PUBLIC
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and is_private(node.attr)
        and node.attr not in own
        and not _is_own(node)
    ]


def _is_own(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Returns whether a node is an attribute of `self` or `cls`."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in OWN
    )


def _defined(tree: ast.Module) -> set[str]:
    """Returns the functions, classes, variables, slots and `self` attributes of a module."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif _is_own(node) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        if isinstance(node, ast.Module | ast.ClassDef):
            for statement in _statements(node):
                names |= _assigned(statement)
    return names


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yields the statements of a module or class and its blocks, without nested definitions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            yield from _statements(child)


def _assigned(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        return set()
    names = {node.id for each in targets for node in ast.walk(each) if isinstance(node, ast.Name)}
    if "__slots__" in names and statement.value is not None:
        for node in ast.walk(statement.value):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                names.add(node.value)
    return names


def reach_report(counts: dict[str, list[ast.Attribute]], most: int | None) -> list[str]:
    """Returns the total, and the modules with the most reaches, as lines."""
    total = sum(map(len, counts.values()))
    limit = "" if most is None else f" (at most {most})"
    lines = [f"{total} reaches for private attributes of other modules' objects{limit}"]
    order = sorted(counts.items(), key=lambda item: (-len(item[1]), item[0]))
    for name, found in order[:SHOWN_MODULES]:
        if found:
            times: dict[str, int] = defaultdict(int)
            for node in found:
                times[node.attr] += 1
            attributes = sorted(times.items(), key=lambda item: (-item[1], item[0]))
            shown = ", ".join(f"{attribute} {number}" for attribute, number in attributes)
            lines.append(f"  {len(found)} in {name}: {shown}")
    return lines


# --- The command line -------------------------------------------------------------------------


def check() -> int:
    """Checks the workspace; returns the exit code."""
    packages = workspace.packages()
    modules = {
        name: Module(name, path, package.name)
        for package in packages.values()
        for name, path in package.modules.items()
    }
    problems = [
        *circle_problems(modules),
        *stranger_problems(modules, packages),
        *top_problems(packages),
    ]
    for problem in dict.fromkeys(problems):
        print(problem)
    counts = {name: reaches(module.tree) for name, module in modules.items()}
    print("\n".join(reach_report(counts, MOST_REACHES)))
    too_many = sum(map(len, counts.values())) > MOST_REACHES
    if not problems and not too_many:
        print(f"the imports of {len(modules)} modules are as they should be")
    return int(bool(problems) or too_many)


def count(folder: Path) -> int:
    """Counts the reaches of a folder; returns the exit code."""
    paths = sorted(folder.rglob("*.py"))
    if not paths:
        print(f"error: there is no Python file in {folder}", file=sys.stderr)
        return 2
    counts = {
        path.relative_to(folder).as_posix(): reaches(ast.parse(path.read_text(encoding="utf-8")))
        for path in paths
    }
    print("\n".join(reach_report(counts, None)))
    return 0


def main() -> int:
    """Runs the command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reaches", metavar="FOLDER", type=Path, help="count those of a folder")
    folder: Path | None = parser.parse_args().reaches
    return check() if folder is None else count(folder)


if __name__ == "__main__":
    sys.exit(main())
