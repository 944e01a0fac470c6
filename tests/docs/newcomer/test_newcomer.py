# SPDX-License-Identifier: MIT
"""What newcomers do on their first days, from the docs alone: each file here is such a task.

`tests/support/newcomer.py` says how they are read. Each is done in an environment of its own, into
which the wheels of this workspace are installed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from environments import ROOT
from newcomer import Newcomer

pytestmark = [pytest.mark.slow, pytest.mark.once]

TASKS = sorted(path.relative_to(ROOT) for path in Path(__file__).parent.glob("*.md"))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.stem)
def test_task(task: Path, wheels: dict[str, Path], tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    # The first takes pip itself; for the others uv does it, which is ten times faster.
    is_install = task.stem == "install"
    with Newcomer(project, wheels, has_patience=is_install) as newcomer:
        newcomer.do(task.as_posix())


def test_there_are_ten() -> None:
    assert len(TASKS) == 10
