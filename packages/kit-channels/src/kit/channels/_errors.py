# SPDX-License-Identifier: MIT
"""What can go wrong while an app runs."""

from __future__ import annotations

from kit.interface import KitError

__all__ = (
    "ChannelsError",
    "ChannelsUnavailableError",
    "InvalidMessageError",
    "SlowSubscriberError",
    "SubscriptionClosedError",
)


class ChannelsError(KitError):
    """Any error of channels that is not a mistake in the code."""


class ChannelsUnavailableError(ChannelsError):
    """The backend can't be reached: nothing could be published, or subscribed to.

    A message whose `publish` raised this may have been delivered or not. It is never sent again by
    itself, so that nobody gets it twice.
    """


class SlowSubscriberError(ChannelsError):
    """A subscription with `on_overflow="close"` was closed, since its queue was full."""


class SubscriptionClosedError(ChannelsError):
    """There is nothing more to receive: the subscription was left, or the channels have ended."""


class InvalidMessageError(ChannelsError, ValueError):
    """A message is no JSON, or doesn't fit the type that `receive_json` asked for."""
