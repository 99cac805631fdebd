"""A database for the tests of what homes share."""

from tests.resources.response_cache.conftest import address, numbers, server

__all__ = ["address", "numbers", "server"]
