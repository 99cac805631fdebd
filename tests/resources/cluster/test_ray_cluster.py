from threading import Event

import pytest

from bench_resources.cluster.ray_cluster import run_with_timeout


def test_a_call_beyond_its_time_limit_is_an_error_and_goes_on() -> None:
    released, ended = Event(), Event()

    def work() -> None:
        released.wait()
        ended.set()

    with pytest.raises(TimeoutError, match=r"^0 s$"):  # in whole seconds
        run_with_timeout(0.05, work)
    released.set()
    assert ended.wait(timeout=60)
