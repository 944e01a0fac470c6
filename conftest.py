# SPDX-License-Identifier: MIT
"""What holds for all tests."""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Tests start thousands of processes, and to compile what each imports takes half of their time.
# Where the environment has Python keep nothing, as images of containers do, it is kept here.
COMPILED = Path(__file__).parent / ".pytest_cache" / "compiled"
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(COMPILED)

# Type checkers that tests start share what they know of the libraries; each worker has its own, as
# two processes may not write one.
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "main")
os.environ["MYPY_CACHE_DIR"] = str(Path(__file__).parent / ".mypy_cache" / WORKER)

# How long an example takes depends on what else the machine does, tests of other workers above all.
settings.register_profile(
    "kit", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
# For the interpreters beyond the first, which .ci/run tests after it: what differs between
# interpreters shows in few examples.
settings.register_profile("further", settings.get_profile("kit"), max_examples=30)
# For the coverage: the same examples every time, and few, since code that is measured is slow.
settings.register_profile(
    "measured", settings.get_profile("further"), derandomize=True, database=None
)
settings.load_profile("kit")

# A shell lets what it starts with `&` ignore Ctrl-C, and processes that tests start inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SLOW_S = 900
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
# For fewer files than these, workers take longer to start than they save.
FEW_FILES = 10


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Starts no workers for a few files; otherwise one more than there are processors.

    Many tests wait for servers and other programs, while another worker has something to do.
    """
    paths = [config.invocation_params.dir / arg.partition("::")[0] for arg in config.args]
    count = sum(1 if path.is_file() else len([*path.rglob("test_*.py")]) for path in paths)
    return 0 if count < FEW_FILES else (os.cpu_count() or 1) + 1


def pytest_make_parametrize_id(val: object) -> str | None:
    """Leaves addresses out of the names of tests: workers must collect the same ones."""
    return _ADDRESS.sub("", val) if isinstance(val, str) and _ADDRESS.search(val) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Allows slow tests more time."""
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_S))


def pytest_collection_finish() -> None:
    """Takes what was imported out of the garbage collector's sight.

    Many tests collect garbage, to hear of what was dropped half-way. The modules of all tests make
    each collection take a hundred times as long as what the test itself made.
    """
    _freeze()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Does the same with what the tests of a module have imported, frameworks above all."""
    if nextitem is None or nextitem.path != item.path:
        _freeze()


def _freeze() -> None:
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Makes every report one that a worker can send: as UTF-8, which has no half characters."""
    report = yield
    report.sections = [
        (name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections
    ]
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Lets plugins that search for references find them again, and tidies up."""
    gc.unfreeze()
    if not hasattr(session.config, "workerinput"):
        # Of the modules in temporary folders, which no other run imports.
        shutil.rmtree(COMPILED / tempfile.gettempdir().lstrip("/"), ignore_errors=True)
