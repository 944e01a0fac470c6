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
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fbfaf7; }
h1 { margin-bottom: .25rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; background: #fff; }
th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid #e5e1d8; }
form { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; }
label { display: grid; font-size: .85rem; }
input, button { font: inherit; padding: .3rem .5rem; }
.message { background: #fde8e8; border-left: 4px solid #c33; padding: .5rem .75rem; }
.quiet { color: #666; }
"""


def render(
    found: Page, page: int = 1, q: str = "", message: str = "", fields: Mapping[str, str] = {}
) -> str:
    """Makes the page.

    Args:
        found: The books on this page of the list.
        page: Number of the page, from 1.
        q: What was searched for.
        message: What went wrong with the form, if anything did.
        fields: What was in the form, to be shown again; not the token.
    """
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Bookshelf</title>
<style>{STYLE}</style>
<h1>Bookshelf</h1>
<p class="quiet">{found.total} books{f" with “{escape(q)}”" if q else ""}
 · <a href="/docs">API</a> · <a href="/api/books">JSON</a> · <a href="/api/books.csv">CSV</a></p>
<h2>Add a book</h2>
{f'<p class="message" role="alert">{escape(message)}</p>' if message else ""}
<form action="/books" method="post">{"".join(_field(*f, fields) for f in FIELDS)}
<button>Add</button></form>
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
    return f"<table><tr><th>Title<th>Author<th>Year<th>ISBN</tr>{rows}</table>"


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
