import pytest

from tests.suites.journeybench.published_bench import Bench
from tests.suites.journeybench.release import write_release


@pytest.fixture(scope="package")
def bench(tmp_path_factory):
    """Three tasks, built of a release in which one image does not decode."""
    folder = tmp_path_factory.mktemp("published")
    bench = Bench(folder / "home", write_release(folder / "source"))
    (bench.source / "images" / "torn.png").write_text("no image")
    assert bench.build().success
    return bench
