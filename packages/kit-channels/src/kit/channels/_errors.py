# SPDX-License-Identifier: MIT
"""Errors at runtime."""

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
    """Base class of errors in channels that aren't programming errors."""


class ChannelsUnavailableError(ChannelsError):
    """The backend can't be reached or refuses, so publishing or subscribing failed.

    If `publish` raised this, the message may or may not have been delivered. It is never resent
    automatically, so that no subscriber receives it twice.
    """


class SlowSubscriberError(ChannelsError):
    """A subscription with `on_overflow="close"` was closed because its queue was full."""


class SubscriptionClosedError(ChannelsError):
    """Nothing more can be received: the subscription was left, or the channels were stopped."""


class InvalidMessageError(ChannelsError, ValueError):
    """A message isn't valid JSON, or doesn't match the type passed to `receive_json`."""
