# SPDX-License-Identifier: MIT
"""Tasks that outlive the code that starts them, on asyncio and trio.

A task group of anyio has to be left by the task that entered it. Where work starts in one call and
ends in another, as for a mounted application or a body with several readers, a `DetachedTask` runs
it; a `Signal` wakes the tasks that wait for a change.
"""

from ._detached_task import DetachedTask
from ._signal import Signal
from ._tasks import running_trio, threadsafe_call

__all__ = ("DetachedTask", "Signal", "running_trio", "threadsafe_call")

# Names are shown as they are imported.
for _class in (DetachedTask, Signal):
    _class.__module__ = __name__
