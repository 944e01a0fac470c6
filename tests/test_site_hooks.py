# SPDX-License-Identifier: MIT
"""The hooks of mkdocs.yml: screenshots on the landing page, and changes to pages of the theme."""

from __future__ import annotations

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
