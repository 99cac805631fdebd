import pytest

from bench_assets.suites.cogbench.assets.construction import edition_of
from bench_resources.datasets.source_files import SuiteSource
from tests.suites.cogbench.release import write_release


@pytest.mark.parametrize(
    ("is_mini", "raw", "whole", "edition"),
    [
        pytest.param(True, True, False, "mini", id="nothing is configured"),
        pytest.param(False, True, False, "built", id="raw annotations"),
        pytest.param(False, False, True, "published", id="the full set"),
        pytest.param(False, False, False, "own", id="the authors' five samples"),
    ],
)
def test_the_edition_is_that_of_the_source(tmp_path, is_mini, raw, whole, edition):
    if raw:
        (tmp_path / "images").mkdir()
        (tmp_path / "annotations.json").write_text("[]")
    else:
        write_release(tmp_path, {})
    assert edition_of(SuiteSource(folder=tmp_path, is_mini=is_mini), whole=whole) == edition
