# SPDX-License-Identifier: MIT
"""The hooks of mkdocs.yml: screenshots on the landing page, and changes to pages of the theme."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import browser
import docs_screenshot
import docs_theme
import pytest

pytestmark = pytest.mark.once

DRAWING = '<p><img alt="The page" height="830" src="assets/docs-page.svg" width="960"></p>'
PAGE = (
    '<link rel="stylesheet" href="../assets/_mkdocstrings.css"><body dir="ltr">'
    '<div role="dialog"></div><script src="../assets/javascripts/bundle.1a.min.js"></script>'
)


def page(source: str) -> SimpleNamespace:
    return SimpleNamespace(file=SimpleNamespace(src_uri=source))


def test_without_screenshots_there_is_a_drawing() -> None:
    assert docs_screenshot.on_page_content(DRAWING, page("index.md")) == DRAWING


def test_screenshots_replace_the_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs_screenshot, "_is_taken", True)
    shown = docs_screenshot.on_page_content(DRAWING, page("index.md"))
    for scheme in ("light", "dark"):
        source = f'src="assets/docs-page-{scheme}.png#only-{scheme}"'
        assert f"{source} width=" in shown
    assert shown.count("<img") == shown.count('alt="The page"') == shown.count("lazy") == 2
    assert ".svg" not in shown
    assert docs_screenshot.on_page_content(DRAWING, page("openapi.md")) == DRAWING


@pytest.mark.slow
def test_screenshots_are_taken_in_both_schemes() -> None:
    program = browser.chromium()
    if program is None:
        pytest.skip("there is no Chromium")
    images = docs_screenshot.screenshots(program)
    assert [*images] == ["light", "dark"]
    # An empty page has a few kB.
    assert all(each.startswith(b"\x89PNG") and len(each) > 30_000 for each in images.values())
    assert images["light"] != images["dark"]


def test_pages_are_painted_before_the_script_of_the_theme() -> None:
    changed = docs_theme.on_post_page(PAGE, page("routing.md"))
    assert '<div role="dialog" aria-label="Search">' in changed
    assert "_mkdocstrings" not in changed
    assert "requestAnimationFrame" in changed
    assert '{src:"../assets/javascripts/bundle.1a.min.js"}' in changed
    assert "<script src=" not in changed
    assert '<body dir="ltr"><script>if(matchMedia(' in changed
    landing = docs_theme.on_post_page(PAGE, page("index.md"))
    assert "requestAnimationFrame" not in landing
    assert '{src:"../assets/javascripts/bundle.1a.min.js"}' in landing
    assert "_mkdocstrings" in docs_theme.on_post_page(PAGE, page("reference/kit.md"))


# What the theme's script finds on a page, and a script that does as the theme's.
FIRST = """<!doctype html><body data-md-color-scheme="default">
<input type="checkbox" id="__search"><input class="md-search__input">
<form><input type="radio" name="__palette" id="__palette_0">
<label for="__palette_1" hidden>Dark</label>
<input type="radio" name="__palette" id="__palette_1">
<label for="__palette_0" hidden>Light</label></form>
<script src="./bundle.1.js"></script>"""
BUNDLE = """
const choose = ({target}) => { document.body.dataset.mdColorScheme = target.id; };
document.querySelectorAll("[name=__palette]").forEach((each) => (each.onchange = choose));
document.body.dataset.loaded = "yes";
"""
STATE = """
for (let i = 0; i < 200 && args[0] && !document.body.dataset.loaded; i++)
  await new Promise((resolve) => setTimeout(resolve, 20));
const {loaded, mdColorScheme} = document.body.dataset;
const input = document.querySelector(".md-search__input");
return [loaded ?? "no", mdColorScheme, document.getElementById("__search").checked, input.value,
  document.activeElement === input];
"""


@pytest.fixture
def landing(tmp_path: Path) -> Iterator[browser.Browser]:
    """A browser on a landing page where nothing was pressed yet."""
    if (reason := browser.missing()) is not None:
        pytest.skip(reason)
    page_of_site = tmp_path / "index.html"
    page_of_site.write_text(docs_theme.on_post_page(FIRST, page("index.md")))
    (tmp_path / "bundle.1.js").write_text(BUNDLE)
    profile = tmp_path / "browser"
    profile.mkdir()
    with browser.Browser(profile) as opened:
        opened.open(page_of_site.as_uri())
        yield opened


@pytest.mark.slow
def test_the_first_key_on_the_landing_page_opens_the_search(landing: browser.Browser) -> None:
    assert landing.run(STATE, False) == ["no", "default", False, "", False]
    landing.press("f", "j", "f")
    assert landing.run(STATE, True) == ["yes", "default", True, "jf", True]


@pytest.mark.slow
def test_the_first_click_on_the_landing_page_chooses_the_palette(landing: browser.Browser) -> None:
    landing.click("label:not([hidden])")
    assert landing.run(STATE, True) == ["yes", "__palette_1", False, "", False]


@pytest.mark.slow
def test_a_shared_search_on_the_landing_page_needs_no_first_event(landing: browser.Browser) -> None:
    landing.open(f"{landing.url}?q=jwt")
    assert landing.run(STATE, True)[0] == "yes"
