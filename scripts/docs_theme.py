# SPDX-License-Identifier: MIT
"""MkDocs hook that makes pages of the theme more accessible, and faster to show.

Most of the time until a page can be used is that of the theme's script, which builds the search and
the copy buttons. So it is loaded after the first paint; on the landing page, which has no need of
it, when the visitor first moves, scrolls or presses something. What they press before it has come
isn't lost: the keys of the search work, and a chosen palette is applied when it is there.
"""

from __future__ import annotations

import re
from typing import Any

_SCRIPT = re.compile(r'<script src="([^"]*/bundle\.[^"]*\.js)"></script>')
_LOAD = r'document.body.append(Object.assign(document.createElement("script"),{src:"\1"}))'
_AFTER_PAINT = f"<script>requestAnimationFrame(()=>setTimeout(()=>{_LOAD}))</script>"
_AT_FIRST_EVENT = r"""<script>{
  const root = document.documentElement, search = document.getElementById("__search");
  const events = [
    "click", "focusin", "keydown", "pointerdown", "pointermove", "scroll", "touchstart"
  ];
  const isDark = document.body.dataset.mdColorScheme === "slate";
  let palette;
  const load = () => {
    events.forEach((each) => removeEventListener(each, load));
    const script = Object.assign(document.createElement("script"), {src:"\1"});
    script.onload = () => {
      removeEventListener("change", choose);
      removeEventListener("keydown", open);
      palette?.dispatchEvent(new Event("change"));
    };
    document.body.append(script);
  };
  const choose = ({target}) => { if (target.name === "__palette") palette = target; };
  const open = (event) => {
    if (!"fs/".includes(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input:not([type=radio])")) return;
    event.preventDefault();
    search.checked = true;
    document.querySelector(".md-search__input").focus();
  };
  root.classList.replace("no-js", "js");
  document.querySelectorAll("label[for^=__palette]")[isDark ? 1 : 0].hidden = false;
  addEventListener("change", choose);
  addEventListener("keydown", open);
  events.forEach((each) => addEventListener(each, load, {passive: true}));
  if (location.search) load();
}</script>"""
# Otherwise the script would set the colors, after the page was painted in others.
_BODY = re.compile(r"(<body[^>]*>)")
_COLORS = (
    r'\1<script>if(matchMedia("(prefers-color-scheme: dark)").matches)'
    'document.body.dataset.mdColorScheme="slate"</script>'
)
_STYLES_OF_REFERENCE = re.compile(r'\s*<link rel="stylesheet" href="[^"]*_mkdocstrings\.css">')


def on_post_page(output: str, page: Any, **_: object) -> str:
    """Changes a page of the site.

    Args:
        output: The page.
        page: Where it comes from.
    """
    source = page.file.src_uri
    output = output.replace('role="dialog">', 'role="dialog" aria-label="Search">')
    output = _BODY.sub(_COLORS, output, count=1)
    output = _SCRIPT.sub(_AT_FIRST_EVENT if source == "index.md" else _AFTER_PAINT, output)
    if not source.startswith("reference/"):
        output = _STYLES_OF_REFERENCE.sub("", output)
    return output
