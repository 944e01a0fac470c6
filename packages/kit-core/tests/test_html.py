# SPDX-License-Identifier: MIT
"""HTML from templates: what is escaped, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from html import unescape
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from kit import Context, Kit, Response
from kit.html import html, raw

EVIL = "<a href='x'>&\"</a>"
ESCAPED = "&lt;a href=&#39;x&#39;&gt;&amp;&#34;&lt;/a&gt;"


class Interpolation(NamedTuple):
    value: object
    expression: str = "x"
    conversion: str | None = None
    format_spec: str = ""


@dataclass
class Template:
    """What a t-string is, on the interpreters that have none."""

    strings: tuple[str, ...]
    interpolations: tuple[Interpolation, ...]


class WithHtml:
    def __html__(self) -> str:
        return "<hr>"


def of(value: object) -> str:
    return html("{x}", x=value)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (EVIL, ESCAPED),
        ("", ""),
        (0, "0"),
        (1.5, "1.5"),
        (ValueError(EVIL), ESCAPED),
        # What is HTML already.
        (raw(EVIL), EVIL),
        (Markup("<br>"), "<br>"),
        pytest.param(WithHtml(), "<hr>", id="has __html__"),
        (html("<b>{x}</b>", x="<"), "<b>&lt;</b>"),
        # Nothing.
        (None, ""),
        (True, ""),
        (False, ""),
        # Several.
        ([], ""),
        (["<", raw("<"), None, 1, ["a", ("b",)]], "&lt;<1ab"),
        pytest.param((each for each in "<>"), "&lt;&gt;", id="generator"),
        pytest.param(map(html, ["<i>", "<u>"]), "<i><u>", id="map"),
        ({"<": 1}, "{&#39;&lt;&#39;: 1}"),
        # t-strings.
        (Template(("<b>", "</b>"), (Interpolation("<"),)), "<b>&lt;</b>"),
    ],
    ids=repr,
)
def test_values(value: object, shown: str) -> None:
    assert of(value) == shown
    assert isinstance(of(value), Markup)


def test_template() -> None:
    page = html(
        '<p title="{title}">{title}, {price:.2f} {{EUR}}</p>{extra}',
        title="A & B",
        price=2,
        extra="",
    )
    assert page == '<p title="A &amp; B">A &amp; B, 2.00 {EUR}</p>'
    assert html("<p></p>") == "<p></p>"
    assert html("") == ""
    assert html("{a:>4}", a="<") == "   &lt;"
    # Names that the parameter could have, values that have no field.
    assert html("{template}{self}", template="a", self="b", more="c") == "ab"


def test_in_an_app(run: Callable[..., Any]) -> None:
    app = Kit()

    @app.get("/:name")
    def page(c: Context) -> Response:
        items = [html("<li>{name}</li>", name=name) for name in c.req.queries("item") or []]
        return c.html(
            html("<h1>{name}</h1><ul>{items}</ul>", name=c.req.param("name"), items=items)
        )

    response = run(app.request, "/%3Cb%3E?item=a&item=%26")
    assert response.headers.get("content-type") == "text/html; charset=UTF-8"
    assert run(response.text) == "<h1>&lt;b&gt;</h1><ul><li>a</li><li>&amp;</li></ul>"


class Reader(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.seen.append(data)


# HTML has its own ideas of these.
texts = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), min_size=1)


@given(texts, texts, texts)
def test_a_page_has_no_elements_but_those_of_the_template(a: str, b: str, c: str) -> None:
    page = html("<p title=\"{a}\" lang='{b}'>{c}</p>", a=a, b=b, c=c)
    reader = Reader()
    reader.feed(page)
    reader.close()
    element, *data = reader.seen
    assert element == ("p", [("title", a), ("lang", b)])
    assert "".join(data) == c
    assert unescape(html("{c}", c=c)) == unescape(Markup.escape(c))


# --- t-strings ----------------------------------------------------------------------------------


def test_template_string() -> None:
    template = Template(
        ("<p>", " ", " ", "</p>"),
        (
            Interpolation(EVIL),
            Interpolation("<", conversion="r"),
            Interpolation(2, format_spec=".1f"),
        ),
    )
    assert html(template) == f"<p>{ESCAPED} &#39;&lt;&#39; 2.0</p>"


def test_template_string_of_the_language() -> None:
    if sys.version_info < (3, 14):
        pytest.skip("t-strings came with Python 3.14")
    names = {"html": html, "x": EVIL, "n": 2}
    code = "html(t\"<p title='{x}'>{x!r} {n:.1f} {[t'<i>{each}</i>' for each in '<>']}</p>\")"
    assert eval(code, names) == (
        f"<p title='{ESCAPED}'>{Markup.escape(repr(EVIL))} 2.0 <i>&lt;</i><i>&gt;</i></p>"
    )
    with pytest.raises(ValueError, match="in a tag"):
        eval('html(t"<p {x}>")', names)


@pytest.mark.parametrize(
    ("around", "inside"),
    [
        (("<a href=", ">"), ("", "")),
        (("<a href=", ">"), ("/books/", "")),
        (("<a ", ">"), ("href=", "")),
        (("<a ", ">"), ('href="" ', "")),
        (("<script>", "</script>"), ("let x = '", "'")),
        (('<a title="', '">'), ('" lang=', "")),
    ],
)
def test_template_string_in_another_one_is_where_that_puts_it(
    around: tuple[str, ...], inside: tuple[str, ...]
) -> None:
    template = Template(around, (Interpolation(Template(inside, (Interpolation("x onload=y"),))),))
    with pytest.raises(ValueError, match="escaping doesn't protect"):
        html(template)


def test_template_string_of_attributes() -> None:
    attribute = Template(("class='", "'"), (Interpolation("'"),))
    template = Template(("<p ", ">"), (Interpolation([attribute, None]),))
    assert html(template) == "<p class='&#39;'>"


def test_template_string_has_its_own_values() -> None:
    with pytest.raises(TypeError) as raised:
        html(Template(("",), ()), x=1)  # type: ignore[call-overload]
    assert str(raised.value) == "html() takes no values with a t-string, which has its own"


# --- where escaping doesn't protect -------------------------------------------------------------

IN_A_TAG = "in a tag, outside of quotes"


@pytest.mark.parametrize(
    ("template", "place"),
    [
        ("<a href={x}>", IN_A_TAG),
        ("<a href= {x}>", IN_A_TAG),
        ("<a href=/books/{x}>", IN_A_TAG),
        ("<a {x}>", IN_A_TAG),
        ("<a {x}='1'>", IN_A_TAG),
        ("<a title='>' {x}>", IN_A_TAG),
        ('<a title="{y}" {x}>', IN_A_TAG),
        ("<{x}>", IN_A_TAG),
        ("</{x}>", IN_A_TAG),
        ("<h{x}>", IN_A_TAG),
        ("<!doctype {x}>", IN_A_TAG),
        # A quote that begins no value.
        ('<a href=/x"{x}">', IN_A_TAG),
        ("<a title=a'b {x}'>", IN_A_TAG),
        ('<a href={n}"{x}">', IN_A_TAG),
        ('<a "{x}">', IN_A_TAG),
        ('<a ="{x}">', IN_A_TAG),
        ('<a b=="{x}">', IN_A_TAG),
        ('<a b=\xa0"{x}">', IN_A_TAG),
        ('<h{n}="{x}">', IN_A_TAG),
        ('</a "{x}">', IN_A_TAG),
        # Comments and declarations that are over.
        ("<!--><a href={x}>", IN_A_TAG),
        ("<!---><a href={x}>", IN_A_TAG),
        ("<!-- --!><a href={x}>", IN_A_TAG),
        ('<!doctype "><a href={x}>', IN_A_TAG),
        ("<script>let x = {x}</script>", "in <script>"),
        ("<script type='a>b'>{x}</script>", "in <script>"),
        ("<SCRIPT>'<b>{x}", "in <script>"),
        ("<script>'{x}'</script>", "in <script>"),
        ("<style>p {{ color: {x} }}</style>", "in <style>"),
    ],
)
def test_places_where_escaping_does_not_protect(template: Any, place: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - compared below
        html(template, x="a", y="", n=1)
    assert str(raised.value).startswith(f"html() can't put the value of {{x}} {place}, where")
    with pytest.raises(ValueError, match="escaping doesn't protect"):
        html(template, x=["a"], y="", n=1)
    # Numbers, trusted text, and nothing.
    for value in (7, 1.5, raw("seven"), html("'{y}'", y="'"), None, False, []):
        assert html(template, x=value, y="", n=1)


@pytest.mark.parametrize(
    "template",
    [
        "<p>{x}</p>",
        "<p title='{x}'>",
        '<p title="a=\'{x}">',
        "<p title='>{x}'>",
        "<p title='a'>{x}",
        "<p>1 = {x}",
        "1 < {x}",
        "a <- {x}",
        "<!-- <script> {x} -->{x}",
        "<script>a</script>{x}",
        "<script>'</b>'</SCRIPT >{x}",
        "<script nonce='{x}'></script>",
        "<script src='a'></script><style>b</style><title>{x}</title>",
        "</script>{x}",
        "<p>{x}",
        "<p title = '{x}'>",
        "<p\ntitle=\n'{x}'>",
        "<p/title='{x}'/>",
        "<p title='a'lang='{x}'>",
        "<p hidden title='{x}'>",
        "<a href=/books title='{x}'>",
        "<a href=/books>{x}",
        "<a href=a'b>{x}",
        "<a href=>{x}",
        "<h{n} title='{x}'>{x}</h{n}>",
        "<p data-{n}='{x}'>",
        "<img width={n} alt='{x}'>{x}",
        "<img width={n}0 alt='{x}'>{x}",
        "<input {no} value='{x}'>{x}",
        "<!doctype html>{x}",
        "<!-->{x}",
        "<!--[if !IE]><!--><p title='{x}'>{x}<!--<![endif]-->",
        "<?xml version='1.0'?>{x}",
    ],
)
def test_places_where_escaping_protects(template: Any) -> None:
    assert "&lt;" in html(template, x="<", n=1, no=None)


# --- mistakes -----------------------------------------------------------------------------------


def test_ordinary_attributes_and_their_secrets_are_out_of_reach() -> None:
    """A template that is no literal could otherwise read what its values lead to."""
    user = SimpleNamespace(name="ann", password="s3cret")
    for field in ("x.name", "x.password", "x.__class__.__init__.__globals__", "x[0]", "0", ""):
        with pytest.raises(ValueError) as raised:  # noqa: PT011 - compared below
            html("{" + field + "}", x=user)  # type: ignore[call-overload]
        assert str(raised.value).startswith(f"html() can't use the field {{{field}}}: expected a")


class Asynchronous:
    def __repr__(self) -> str:
        return "<rows>"

    def __aiter__(self) -> AsyncIterator[str]:
        raise NotImplementedError


class Promise:
    def __repr__(self) -> str:
        return "<promise>"

    def __await__(self) -> Iterator[None]:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("template", "value", "error", "text"),
    [
        (7, 1, TypeError, "html() takes a str or a t-string, not 7"),
        (b"{x}", 1, TypeError, "html() takes a str or a t-string, not b'{x}'"),
        (raw("{x}"), 1, TypeError, "html() takes a literal, not Markup, which is HTML already"),
        ("{y}", 1, ValueError, "html() has no value for {y}; values given: x"),
        ("{x!r}", 1, ValueError, "html() can't use the field {x!r}: expected a name such as"),
        ("{x:{x}}", 1, ValueError, "html() can't use a field within the format of {x}"),
        ("{x:.1f}", raw("1"), ValueError, "html() can't format {x} as '.1f': it is HTML"),
        ("{", 1, ValueError, "html() can't read the template: Single '{' encountered in"),
        ("a } b", 1, ValueError, "html() can't read the template: Single '}' encountered in"),
        ("{x}", b"a", TypeError, "html() can't show {x}: decode it, it is b'a'"),
        ("{x}", Promise(), TypeError, "html() can't wait for {x}: await <promise> before"),
        ("{x}", [Asynchronous()], TypeError, "html() can't wait for {x}: await <rows> before"),
    ],
)  # fmt: skip
def test_mistakes(template: Any, value: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        html(template, x=value)
    assert text in str(raised.value)


def test_raw_takes_text_alone() -> None:
    with pytest.raises(TypeError) as raised:
        raw(None)  # type: ignore[arg-type]
    assert str(raised.value) == "raw() takes a str, not None"


def test_markupsafe_is_imported_with_this_module_alone() -> None:
    code = "import sys, kit\nassert 'markupsafe' not in sys.modules\n"
    code += "sys.modules['markupsafe'] = None\n"
    code += "try:\n    import kit.html\nexcept ImportError as error:\n    print(error)"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert ended.stdout == 'kit.html needs the package markupsafe: pip install "kit-core[html]"\n'


PAGE = '<p title="{x}">{x}</p>'


@pytest.mark.parametrize("quote", ['"', "'"])
@pytest.mark.parametrize("name", ["srcdoc", "SrcDoc", "srcdoc ", "\n srcdoc\n"])
def test_srcdoc_is_html_again(name: str, quote: str) -> None:
    inner = html(PAGE, x=EVIL)
    whole = html(f"<iframe {name}={quote}<hr>{{page}}{quote}>{{x}}", page=inner, x=EVIL)  # type: ignore[arg-type]
    found: list[str | None] = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.extend([tag, *(value for _, value in attrs)])

    Parser().feed(whole)
    assert found == ["iframe", f"<hr>{inner}"]
    assert whole.endswith(f">{ESCAPED}")


def test_what_else_stands_in_srcdoc() -> None:
    of_items = html('<iframe srcdoc="{x}">', x=[html("<b>{y}</b>", y="&"), 7, None, raw("<hr>")])
    assert of_items == '<iframe srcdoc="&lt;b&gt;&amp;amp;&lt;/b&gt;7&lt;hr&gt;">'
    nested = Template(("<i>", "</i>"), (Interpolation("<"),))
    assert html('<iframe srcdoc="{x}">', x=nested) == (
        '<iframe srcdoc="&lt;i&gt;&amp;lt;&lt;/i&gt;">'
    )
    assert html('<iframe srcdoc="{x}" title="{y}">', x=raw("a"), y="&") == (
        '<iframe srcdoc="a" title="&amp;">'
    )


@pytest.mark.parametrize("value", ["<script>", "", ["text"], ValueError("x"), b"x"])
def test_text_is_refused_in_srcdoc(value: object) -> None:
    with pytest.raises(ValueError, match=r"can't put the value of \{x\} in srcdoc, which is HTML"):
        html('<iframe srcdoc="{x}">', x=value)


@pytest.mark.parametrize(
    "template",
    [
        "<p onclick=\"f('{x}')\">",
        "<p ONload='{x}'>",
        '<body title="" onx = "{x}">',
        '<a onx="a{x}b">',
    ],
)
def test_text_is_refused_in_attributes_that_are_scripts(template: Any) -> None:
    with pytest.raises(ValueError, match="in an attribute that is a script, such as onclick"):
        html(template, x="');alert(1)//")
    assert html(template, x=7) == template.format(x=7)
    assert html(template, x=raw("&#39;")) == template.format(x="&#39;")


@pytest.mark.parametrize("name", ["title", "data-on", "href", "style", "srcdocs", "x-srcdoc"])
def test_other_attributes_are_escaped_once(name: str) -> None:
    assert html(f'<p {name}="{{x}}">', x=EVIL) == f'<p {name}="{ESCAPED}">'  # type: ignore[arg-type]
