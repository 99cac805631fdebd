import resource
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def full_disk(room: int = 0) -> Generator[None]:
    """Let no file grow beyond ``room`` bytes, as a full disk does."""
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard_limit))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft_limit, hard_limit))
