import pytest

from bench_assets.suites.cogbench.assets.construction import edition_of
from resources.datasets.source_files import SuiteSource
from tests.suites.cogbench.release import write_release


@pytest.mark.parametrize(
    ("is_mini", "raw", "n", "edition"),
    [
        pytest.param(True, True, 24, "mini", id="nothing is configured"),
        pytest.param(False, True, 24, "built", id="raw annotations"),
        pytest.param(False, False, 251, "published", id="the full set"),
        pytest.param(False, False, 250, "published", id="a set that lost an image is no sample"),
        pytest.param(False, False, 5, "own", id="the authors' five samples"),
    ],
)
def test_the_edition_is_told_by_the_source(tmp_path, is_mini, raw, n, edition):
    if raw:
        (tmp_path / "images").mkdir()
        (tmp_path / "annotations.json").write_text("[]")
    else:
        write_release(tmp_path, {})
    assert edition_of(SuiteSource(folder=tmp_path, is_mini=is_mini), n) == edition
