"""A store for the tests of images that homes share."""

from tests.resources.storage.blobs.conftest import bucket, endpoint, numbers

__all__ = ["bucket", "endpoint", "numbers"]
