# SPDX-License-Identifier: MIT
"""Tasks that outlive the code that starts them, on asyncio and trio.

The task that enters an anyio task group must also leave it. If work starts in one call and ends in
another, as for a mounted application or a body with several readers, a `DetachedTask` runs it. A
`Signal` wakes the tasks that wait for a change. A `ResumableRead` loses nothing if its caller is
cancelled.
"""

from kit.authoring.event_loops import running_trio
from kit.authoring.tasks import DetachedTask, Signal

from ._resumable_read import ResumableRead
from ._tasks import threadsafe_call

__all__ = ("DetachedTask", "ResumableRead", "Signal", "running_trio", "threadsafe_call")

# Public classes show the module that users import them from.
ResumableRead.__module__ = __name__
