# SPDX-License-Identifier: MIT
"""The page of `asyncapi` in Chromium: it connects to a chat, sends, and shows what comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from workspace import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.once]

TALK = """
const form = document.querySelector("form.console[data-address='/rooms/{room}']");
const until = async (condition) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
};
form.querySelector("[data-name=room]").value = "a b";
form.querySelector("[data-name=name]").value = "ada";
form.elements.connect.click();
await until(() => form.querySelector("output").textContent === "connected");
form.elements.message.value = JSON.stringify({text: args[0]});
form.querySelector("button[value=send]").click();
await until(() => form.querySelectorAll(".log li").length === 2);
const log = [...form.querySelectorAll(".log li")].map((item) => item.textContent);
form.elements.disconnect.click();
await until(() => form.querySelector("output").textContent.startsWith("closed"));
return [log, form.querySelector("output").textContent, getComputedStyle(form).colorScheme];
"""


@pytest.mark.parametrize("app", ["app", "strict"])
def test_a_message_comes_back(browser: Any, serve: Callable[..., Any], app: str) -> None:
    url = serve(ROOT / "tests" / "support", f"asyncapi_app:{app}").url
    browser.open(f"{url}/docs/websockets")
    log, status, _ = browser.run(TALK, "hello")
    assert log == ['→ {"text":"hello"}', '← {"by":"ada","room":"a b","text":"hello"}']
    assert status == "closed with 1000"
    assert browser.console() == []


CLASH = """
const form = document.querySelector("form.console[data-address='/clash/{message}']");
const until = async (condition) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
};
form.querySelector("input").value = "a/b";
form.querySelectorAll("input")[1].value = "c";
form.querySelector("button[name=connect]").click();
await until(() => form.querySelector(".log li") !== null);
return form.querySelector(".log li").textContent;
"""


def test_names_of_parameters_hide_nothing(browser: Any, serve: Callable[..., Any]) -> None:
    url = serve(ROOT / "tests" / "support", "asyncapi_app:app").url
    browser.open(f"{url}/docs/websockets")
    assert browser.run(CLASH) == "← a/b c"
    assert browser.console() == []


UNUSABLE = """
document.body.dataset.servers = "wss://api.example.com:99999";
const form = document.querySelector("form.console[data-address='/echo']");
form.elements.connect.click();
return [form.querySelector("output").textContent, form.elements.connect.disabled];
"""


def test_a_server_that_is_no_url_is_told(browser: Any, serve: Callable[..., Any]) -> None:
    url = serve(ROOT / "tests" / "support", "asyncapi_app:app").url
    browser.open(f"{url}/docs/websockets")
    status, is_disabled = browser.run(UNUSABLE)
    assert status.startswith("can't connect: ")
    assert not is_disabled
    assert browser.console() == []
