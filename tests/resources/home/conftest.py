"""A database for the tests of what homes share."""

from tests.resources.responses.conftest import address, numbers, server

__all__ = ["address", "numbers", "server"]
