# SPDX-License-Identifier: MIT
"""The page that shows the shelf. Everything that somebody wrote goes through `escape`."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from urllib.parse import urlencode

from books import Book
from store import Page

PAGE_SIZE = 20
FIELDS = (
    ("title", "Title", "required maxlength=300"),
    ("author", "Author", "maxlength=200"),
    ("year", "Year", "inputmode=numeric size=6"),
    ("isbn", "ISBN", "size=17"),
    ("token", "Token", "type=password required size=12 autocomplete=current-password"),
)
STYLE = """
:root { color-scheme: light dark; --back: #faf8f4; --card: #fff; --text: #24211c; --soft: #655d50;
        --line: #ddd6c8; --link: #7a3b12; --button: #7a3b12; --on-button: #fff; --wrong: #fbe4e1; }
@media (prefers-color-scheme: dark) {
  :root { --back: #1b1916; --card: #26231f; --text: #ece7dd; --soft: #b3a996; --line: #423c33;
          --link: #eab27f; --button: #eab27f; --on-button: #241a10; --wrong: #54231d; }
}
* { box-sizing: border-box; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 56rem; margin: 0 auto; padding: 1.5rem 1rem;
       color: var(--text); background: var(--back); }
h1, h2 { line-height: 1.2; margin: 0 0 .5rem; }
h2 { margin-top: 2rem; font-size: 1.25rem; }
a { color: var(--link); }
p { margin: .5rem 0; }
code { font-size: .95em; background: var(--card); border: 1px solid var(--line);
       border-radius: .25rem; padding: 0 .3em; }
form { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; }
label { display: grid; font-size: .85rem; color: var(--soft); flex: 1 1 8rem; }
input, button { font: inherit; padding: .4rem .6rem; border: 1px solid var(--line);
                border-radius: .375rem; min-width: 0; width: 100%; }
input { background: var(--card); color: var(--text); }
button { background: var(--button); border-color: var(--button); color: var(--on-button);
         cursor: pointer; width: auto; padding-inline: 1.25rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; background: var(--card);
        border: 1px solid var(--line); }
th, td { text-align: left; padding: .5rem .75rem; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-size: .85rem; }
td:nth-child(n+3) { font-variant-numeric: tabular-nums; white-space: nowrap; }
.message { background: var(--wrong); border-left: 4px solid #c33; padding: .5rem .75rem; }
.quiet { color: var(--soft); }
@media (max-width: 36rem) {
  thead { display: none; }
  tr { display: block; padding: .5rem .75rem; border-bottom: 1px solid var(--line); }
  td { border: 0; padding: 0 .5rem 0 0; display: inline; color: var(--soft); font-size: .9rem; }
  td:first-child { display: block; color: var(--text); font-size: 1rem; font-weight: 600; }
}
"""


def render(
    found: Page,
    page: int = 1,
    q: str = "",
    message: str = "",
    fields: Mapping[str, str] = {},
    shown_token: str = "",
) -> str:
    """Renders the page.

    Args:
        found: The books on this page of the list.
        page: Number of the page, from 1.
        q: The text that was searched for.
        message: What was wrong with the form, if anything was.
        fields: The values of the form, to show them again; the token is left out.
        shown_token: The token to tell visitors, if they may know it.
    """
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Bookshelf</title>
<link rel="icon" href="data:,">
<style>{STYLE}</style>
<h1>Bookshelf</h1>
<p class="quiet">{found.total} books{f" with “{escape(q)}”" if q else ""}
 · <a href="/docs">API</a> · <a href="/api/books">JSON</a> · <a href="/api/books.csv">CSV</a></p>
<h2>Add a book</h2>
{f'<p class="message" role="alert">{escape(message)}</p>' if message else ""}
<form action="/books" method="post">{"".join(_field(*f, fields) for f in FIELDS)}
<button>Add</button></form>
{_token_hint(shown_token)}
<h2>On the shelf</h2>
<form action="/"><label>Search<input name="q" value="{escape(q)}"></label><button>Go</button></form>
{_table(found.items)}
{_pages(found.total, page, q)}
</html>
"""


def _table(books: list[Book]) -> str:
    if not books:
        return "<p>The shelf is empty here.</p>"
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td>{escape(str(text or ''))}</td>"
            for text in (book.title, book.author, book.year, book.isbn)
        )
        + "</tr>"
        for book in books
    )
    head = "<thead><tr><th>Title<th>Author<th>Year<th>ISBN</tr></thead>"
    return f"<table>{head}<tbody>{rows}</tbody></table>"


def _token_hint(token: str) -> str:
    if not token:
        return ""
    return (
        f'<p class="quiet">The token is <code>{escape(token)}</code>. Set the environment variable '
        "<code>BOOKSHELF_TOKEN</code> to use one of your own.</p>"
    )


def _pages(total: int, page: int, q: str) -> str:
    last = max(1, -(-total // PAGE_SIZE))
    links = [
        f'<a href="/?{escape(urlencode({"page": number, **({"q": q} if q else {})}))}">{text}</a>'
        for number, text in ((page - 1, "earlier"), (page + 1, "later"))
        if 1 <= number <= last
    ]
    return f"<p>Page {page} of {last} {' · '.join(links)}</p>"


def _field(name: str, label: str, attributes: str, fields: Mapping[str, str]) -> str:
    value = "" if name == "token" else escape(fields.get(name, ""))
    return f'<label>{label}<input name="{name}" value="{value}" {attributes}></label>'
