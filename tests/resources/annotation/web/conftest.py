from collections.abc import Iterator

import pytest

from tests.fakes.annotation_pages import Site


@pytest.fixture(scope="module")
def shared_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("home")) as site:
        yield site


@pytest.fixture
def site(shared_site: Site) -> Site:
    """Pages without units."""
    shared_site.forget()
    return shared_site
