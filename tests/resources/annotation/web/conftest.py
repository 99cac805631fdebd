"""One server for all tests of a file, and nothing asked at the beginning of each."""

from collections.abc import Iterator

import pytest

from tests.fakes.annotation_pages import Site


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("home")) as one:
        yield one


@pytest.fixture
def site(served: Site) -> Site:
    """Pages on which nothing is asked yet."""
    served.forget()
    return served
