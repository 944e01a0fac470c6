# SPDX-License-Identifier: MIT
"""Serves the recorded programs of middleware. Time stands still in this process."""

from __future__ import annotations

import sys
from typing import Any

from recorded_programs import HERE, Programs, bindings, load

sys.path.insert(0, str(HERE))  # the runner imports that of the core
application = Programs("middleware_kit_runner", "middleware_cases.jsonl.gz")
compare = load("middleware_compare")
_rules = compare.known_rules(None)
for _name, _app in application.programs.items():
    application.programs[_name] = compare.app_as_run(_app, _rules)
_keywords = application.runner.app_keywords


def _with_bindings(options: Any) -> Any:
    return {**_keywords(options), "lifespan": bindings}


application.runner.app_keywords = _with_bindings
