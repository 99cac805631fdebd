from pathlib import Path

import pytest

from bench_resources.datasets.source_files import SuiteSource


@pytest.mark.parametrize(
    ("is_mini", "published", "whole", "edition"),
    [
        pytest.param(True, True, True, "mini", id="nothing is configured"),
        pytest.param(False, False, True, "built", id="raw material"),
        pytest.param(False, True, True, "published", id="a whole release"),
        pytest.param(False, True, False, "own", id="a part of a release"),
    ],
)
def test_the_edition_depends_on_the_source(is_mini, published, whole, edition):
    source = SuiteSource(folder=Path("source"), is_mini=is_mini)
    assert source.edition(published=published, whole=whole) == edition
