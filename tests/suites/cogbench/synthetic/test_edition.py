import pytest

from bench_assets.suites.cogbench.assets.construction import edition_of
from bench_resources.datasets.source_files import SuiteSource
from tests.suites.cogbench.release import write_release


def write_raw_annotations(folder):
    (folder / "images").mkdir()
    (folder / "annotations.json").write_text("[]")


def write_empty_release(folder):
    write_release(folder, stories={})


@pytest.mark.parametrize(
    ("is_mini", "write_source", "is_whole", "edition"),
    [
        pytest.param(True, write_raw_annotations, False, "mini", id="nothing is configured"),
        pytest.param(False, write_raw_annotations, False, "built", id="raw annotations"),
        pytest.param(False, write_empty_release, True, "published", id="a whole release"),
        pytest.param(False, write_empty_release, False, "own", id="a part of a release"),
    ],
)
def test_the_edition_depends_on_the_source(tmp_path, is_mini, write_source, is_whole, edition):
    write_source(tmp_path)
    assert edition_of(SuiteSource(folder=tmp_path, is_mini=is_mini), whole=is_whole) == edition
