# SPDX-License-Identifier: MIT
"""The TypeScript clients that `kit client` writes: they compile, and call served apps."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import client_app
import openapi_app
import pytest
from commands import run
from documents import ROOT
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from npm import run_npm

from kit.openapi import build_document
from kit.openapi._client.typescript import generate

if TYPE_CHECKING:
    from conftest import Served

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
KIT = Path(sys.executable).with_name("kit")
SUPPORT = HERE.parent / "support"
PACKAGES = {"typescript": "5.9.3", "@types/node": "20.19.43", "prettier": "3.10.1"}
STRICT = {
    "strict": True,
    "noUncheckedIndexedAccess": True,
    "exactOptionalPropertyTypes": True,
    "noImplicitOverride": True,
    "noImplicitReturns": True,
    "noUnusedLocals": True,
    "noUnusedParameters": True,
    "noPropertyAccessFromIndexSignature": True,
    "erasableSyntaxOnly": True,
    "verbatimModuleSyntax": True,
    "target": "es2022",
    "module": "nodenext",
}
BROWSER = {"lib": ["es2022", "dom", "dom.iterable"], "types": []}
NODE = {"lib": ["es2022"], "types": ["node"]}


class Project:
    """A folder with TypeScript.

    Args:
        npm: What `install_npm` returned.
        folder: The folder.
    """

    def __init__(self, npm: Path, folder: Path) -> None:
        self.npm = npm
        self.folder = folder
        (folder / "node_modules").symlink_to(npm / "node_modules")
        (folder / "package.json").write_text('{"type": "module"}')

    def write(self, name: str, document: Mapping[str, Any]) -> None:
        """Writes a client."""
        (self.folder / name).write_text(generate(document))

    def compile(self, *names: str, **options: Any) -> None:
        """Compiles files, which must have no mistake."""
        settings = {"compilerOptions": {**STRICT, **options}, "files": names}
        (self.folder / "tsconfig.json").write_text(json.dumps(settings))
        run_npm(self.npm, "tsc", "--project", "tsconfig.json", cwd=self.folder)

    def check_format(self, *names: str) -> None:
        """Asks Prettier whether files are formatted."""
        run_npm(self.npm, "prettier", "--check", *names, cwd=self.folder)

    def run(self, *command: str, **environment: str) -> str:
        """Runs Node."""
        return run_npm(self.npm, "node", *command, cwd=self.folder, **environment)


@pytest.fixture
def project(npm: Callable[[Mapping[str, str]], Path], tmp_path: Path) -> Project:
    """A folder with TypeScript, and what compiles it."""
    return Project(npm(PACKAGES), tmp_path)


def test_calls_of_every_operation(project: Project, serve: Callable[..., Served]) -> None:
    project.write("api.ts", build_document(client_app.app))
    (project.folder / "calls.ts").write_text((HERE / "typescript" / "calls.ts").read_text())
    project.compile("calls.ts", **NODE, outDir="out")
    served = serve(SUPPORT, "client_app:app")
    said = project.run("--test", "--test-reporter=tap", "out/calls.js", API=served.url)
    assert "# fail 0" in said
    assert "# pass 13" in said


def test_clients_of_examples(project: Project) -> None:
    names = ["bookshelf.ts", "conduit.ts", "everything.ts", "api.ts"]
    for name in names[:2]:
        target = ROOT / "examples" / name.removesuffix(".ts")
        output = project.folder / name
        run(KIT, "client", target, "--lang", "typescript", "--output", output)
    project.write("everything.ts", build_document(openapi_app.app))
    project.write("api.ts", build_document(client_app.app))
    project.check_format(*names)
    for options in (BROWSER, NODE):
        project.compile(*names, **options, noEmit=True)


REF = "#/components/schemas/"
TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
COMPONENTS: dict[str, Any] = {
    "Client": {"type": "object", "properties": {"from": NUMBER, "a-b": TEXT, "": TEXT}},
    "Promise": {"type": "object", "properties": {}},
    "a.b": {"enum": ["x", "*/", "`${a}`", '"', "'", "\\", "\n\u2028\ud800"]},
    "a b": {"enum": [1, -2, 0.5, True, None]},
    "Itself": {"$ref": f"{REF}Itself"},
    "Loop": {"anyOf": [TEXT, {"type": "array", "items": {"$ref": f"{REF}Loop"}}]},
    "Json": {
        "anyOf": [
            {"type": ["string", "number", "boolean", "null"]},
            {"type": "array", "items": {"$ref": f"{REF}Json"}},
            {"type": "object", "additionalProperties": {"$ref": f"{REF}Json"}},
        ]
    },
    "First": {"oneOf": [{"$ref": f"{REF}Second"}, {"type": "null"}]},
    "Second": {"anyOf": [{"$ref": f"{REF}First"}, TEXT]},
    "Pair": {"type": "array", "prefixItems": [TEXT, NUMBER], "minItems": 2, "maxItems": 2},
    "Some": {"type": "array", "prefixItems": [TEXT, NUMBER]},
    "Both": {"allOf": [{"$ref": f"{REF}Client"}, {"$ref": f"{REF}Holder"}]},
    "Holder": {
        "type": "object",
        "description": "Ends */ here.\n\n    code\n",
        "properties": {
            "inner": {"type": "object", "properties": {"x": {"$ref": f"{REF}Nowhere"}}},
            "inners": {"type": "array", "items": {"type": "object", "properties": {"x": TEXT}}},
            "any": True,
            "long": {"enum": [f"a value of some length, number {each}" for each in range(4)]},
            "longs": {
                "type": "array",
                "items": {"enum": [f"a value of some length, number {each}" for each in range(4)]},
            },
            "old": {**NUMBER, "deprecated": True, "default": 3, "description": "Old.\n*/"},
        },
        "required": ["inner"],
        "additionalProperties": TEXT,
    },
    "Cat": {"type": "object", "properties": {"kind": {"const": "cat"}, "lives": NUMBER}},
    "Dog": {"type": "object", "properties": {"kind": {"enum": [7]}, "name": TEXT}},
    "Pet": {
        "oneOf": [{"$ref": f"{REF}Cat"}, {"$ref": f"{REF}Dog"}],
        "discriminator": {
            "propertyName": "kind",
            "mapping": {"cat": f"{REF}Cat", "7": f"{REF}Dog"},
        },
    },
}


def describe_json(schema: Any) -> dict[str, Any]:
    return {"description": "x", "content": {"application/json": {"schema": schema}}}


def describe_operation(id: str, **fields: Any) -> dict[str, Any]:
    return {"operationId": id, "responses": {"200": describe_json(TEXT)}, **fields}


STRESS: dict[str, Any] = {
    "info": {"title": "Stress */ `${test}`", "version": "1"},
    "paths": {
        "/`${a}`/{class}/{path}.{options}": {
            "get": describe_operation(
                "constructor",
                deprecated=True,
                parameters=[
                    {"name": "class", "in": "path", "required": True, "schema": TEXT},
                    {"name": "path", "in": "path", "required": True, "schema": NUMBER},
                    {"name": "options", "in": "path", "required": True, "schema": TEXT},
                    {"name": "x y", "in": "query", "required": True, "schema": {}},
                    {"name": "pet", "in": "query", "schema": {"$ref": f"{REF}Pet"}},
                    {"name": "X-A", "in": "header", "schema": {"type": "array", "items": TEXT}},
                    {"name": "c", "in": "cookie", "required": True, "schema": NUMBER},
                ],
            ),
            "put": describe_operation(
                "then",
                requestBody={"content": {"text/csv": {}}},
                responses={"default": describe_json({"$ref": f"{REF}Holder"})},
            ),
            "query": describe_operation(
                "ask",
                requestBody={"content": {"application/json": {"schema": {"$ref": f"{REF}Json"}}}},
                responses={
                    "200": describe_json({"$ref": f"{REF}Pet"}),
                    "204": {"description": "x"},
                    "2XX": describe_json({"$ref": f"{REF}Some"}),
                    "404": describe_json({"$ref": f"{REF}Cat"}),
                    "4XX": describe_json({"$ref": f"{REF}Dog"}),
                    "default": {"description": "x"},
                },
            ),
            "additionalOperations": {"COPY": describe_operation("delete-it")},
        },
        "/stream": {
            "get": describe_operation(
                "stream",
                parameters=[{"name": "a", "in": "query", "required": True, "schema": TEXT}],
                requestBody={"content": {"application/json": {"schema": NUMBER}}},
                responses={
                    "200": {
                        "description": "x",
                        "content": {"text/event-stream": {"itemSchema": {"properties": {}}}},
                    }
                },
            ),
        },
        "/moved": {
            "get": describe_operation("moved", responses={"303": {"description": "x"}}),
            "post": describe_operation("Moved", responses={"404": {"description": "x"}}),
        },
        "/itself": {
            "post": describe_operation(
                "itself",
                requestBody={
                    "required": True,
                    "content": {"multipart/form-data": {"schema": {"$ref": f"{REF}Itself"}}},
                },
            )
        },
    },
    "components": {
        "schemas": COMPONENTS,
        "securitySchemes": {
            "base_url": {"type": "apiKey", "in": "header", "name": "X"},
            "class": {"type": "apiKey", "in": "cookie", "name": '"'},
            "token": {"type": "http", "scheme": "`${x}`"},
        },
    },
}


def test_names_and_texts_of_all_kinds(project: Project) -> None:
    project.write("api.ts", STRESS)
    project.write("empty.ts", {"info": {"title": "", "version": ""}, "paths": {}})
    (project.folder / "use.ts").write_text(USE)
    project.check_format("api.ts", "empty.ts")
    project.compile("use.ts", "api.ts", **BROWSER, noEmit=True)
    project.compile("empty.ts", **BROWSER, noEmit=True, noUnusedLocals=False)


USE = """
import { Client, type Client_2, isErrorOf, type Json, type Pet } from "./api.js";

export async function use(api: Client, pet: Pet, error: unknown): Promise<Json> {
  const named: Client_2 = { from: 1, "a-b": "", "": "" };
  if (pet.kind === "cat") return pet.lives ?? 9;
  const options = { query: { "x y": named }, cookies: { c: 1 }, headers: { "X-A": ["a"] } };
  await api.constructor_("a", 1, "b", options);
  const answer = await api.ask({ a: [null, 1] });
  if (answer.status === 200 && "lives" in answer.body) return answer.body.lives ?? null;
  if (isErrorOf("ask", error) && error.status === 404) console.log(error.body);
  for await (const item of api.stream(undefined, { query: { a: "" } })) console.log(item);
  return (await api.moved()).status;
}
"""


NAMES = st.text(max_size=6) | st.sampled_from(["class", "a-b", "then", "path", "Error", "Array"])
KEYS = ("A", "B b", "Record", "String", "Blob")
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
LEAVES = st.sampled_from(
    [
        {},
        True,
        TEXT,
        NUMBER,
        {"type": ["string", "null"]},
        {"type": "string", "format": "binary", "contentMediaType": "application/octet-stream"},
        *({"$ref": f"{REF}{key}"} for key in KEYS),
    ]
)


def combine(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas of other schemas."""
    several = st.lists(inner, min_size=1, max_size=3)
    text = st.text(max_size=10)
    return st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(
            lambda items: {
                "type": "array",
                "prefixItems": items,
                "minItems": len(items),
                "maxItems": len(items),
            },
            several,
        ),
        st.builds(lambda values: {"enum": values}, st.lists(SCALARS, min_size=1, max_size=3)),
        st.builds(
            lambda key, schemas: {key: schemas}, st.sampled_from(["anyOf", "oneOf"]), several
        ),
        st.builds(lambda values: {"type": "object", "additionalProperties": values}, inner),
        st.builds(
            lambda fields, about, required: {
                "type": "object",
                "properties": fields,
                "description": about,
                "required": [*fields][:required],
            },
            st.dictionaries(NAMES, inner, max_size=3),
            text,
            st.integers(0, 3),
        ),
    )


SCHEMAS = st.recursive(LEAVES, combine, max_leaves=6)


@st.composite
def draw_operation(draw: st.DrawFn, id: str) -> dict[str, Any]:
    """An operation with parameters, perhaps a body, and responses."""
    keys = draw(
        st.lists(st.tuples(NAMES, st.sampled_from(["query", "header", "cookie"])), max_size=3)
    )
    parameters = [
        {"name": name, "in": place, "required": draw(st.booleans()), "schema": draw(SCHEMAS)}
        for name, place in dict.fromkeys(keys)
    ]
    media_type = draw(st.sampled_from(["application/json", "multipart/form-data", "image/png"]))
    statuses = st.sampled_from(["200", "201", "204", "303", "404", "4XX", "default"])
    responses = {
        each: describe_json(draw(SCHEMAS)) if draw(st.booleans()) else {"description": "x"}
        for each in draw(st.lists(statuses, min_size=1, max_size=4, unique=True))
    }
    operation = {
        "operationId": id,
        "summary": draw(st.text(max_size=10)),
        "parameters": parameters,
        "responses": responses,
    }
    if draw(st.booleans()):
        content = {media_type: {"schema": draw(SCHEMAS)}}
        operation["requestBody"] = {"content": content, "required": draw(st.booleans())}
    return operation


@st.composite
def draw_document(draw: st.DrawFn) -> dict[str, Any]:
    """A document of any names and texts."""
    ids = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    return {
        "info": {"title": draw(st.text(max_size=10)), "version": "1"},
        "paths": {
            f"/{index}": {"post": draw(draw_operation(each))} for index, each in enumerate(ids)
        },
        "components": {"schemas": {key: draw(SCHEMAS) for key in KEYS}},
    }


@given(st.lists(draw_document(), min_size=10, max_size=10))
@settings(max_examples=5, suppress_health_check=[*HealthCheck], phases=[Phase.generate])
def test_clients_of_random_documents(
    npm: Callable[[Mapping[str, str]], Path],
    tmp_path_factory: pytest.TempPathFactory,
    documents: list[dict[str, Any]],
) -> None:
    project = Project(npm(PACKAGES), tmp_path_factory.mktemp("random"))
    names = [f"client{index}.ts" for index in range(len(documents))]
    for name, document in zip(names, documents, strict=True):
        project.write(name, document)
    project.compile(*names, **BROWSER, noEmit=True, skipLibCheck=True)
