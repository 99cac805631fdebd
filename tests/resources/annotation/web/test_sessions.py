from pathlib import Path

import httpx
import pytest

from bench_assets.annotation.tasks import AnnotationError, Unit
from bench_assets.core.schema.errors import HomeError
from bench_resources.annotation.web.sessions import NAME, LinkError, LinkSigner
from bench_resources.annotation.web.store import PagesStore
from tests.fakes.annotation_pages import BRING, Site, Visitor, shown
from tests.fakes.full_disk import full_disk
from tests.resources.annotation.port_cases import FORM, A


@pytest.mark.parametrize(
    "template",
    [
        pytest.param("/in/x", id="no link"),
        pytest.param("/in/{payload}", id="not signed"),
        pytest.param("/in/{payload}.{signature_start}AAAAAA", id="another signature"),
        pytest.param("/in/WyJiZW4i{payload_end}.{signature}", id="another person"),
    ],
)
def test_a_forged_link_opens_nothing(site: Site, template: str) -> None:
    payload, _, signature = site.link("ana").removeprefix("/in/").partition(".")
    link = template.format(
        payload=payload,
        payload_end=payload[len("WyJhbmEi") :],  # base64 of ["ana"; that of ["ben" is as long
        signature=signature,
        signature_start=signature[:-6],
    )
    page = httpx.get(site.address + link, trust_env=False)
    assert page.status_code == 403
    assert "set-cookie" not in page.headers


@pytest.mark.parametrize(
    "path", ["/", "/f/1/next", "/f/1/mine", "/f/1/i/1", "/upload/0", "/f/1/i/1/image/0"]
)
def test_without_a_link_no_page_is_shown(site: Site, path: str) -> None:
    site.backend.ask(FORM, [A])
    page = httpx.get(site.address + path, trust_env=False)
    assert page.status_code == 403
    assert "open the link" in page.text


def test_a_revoked_link_ends_the_session(site: Site) -> None:
    ana = Visitor(site.address, site.link("ana"))
    assert ana.entered.status_code == 200
    LinkSigner.beside(site.store).revoke("ana")
    assert "revoked" in ana.http.get("/").text


def test_a_session_ends_when_its_link_expires(site: Site) -> None:
    ana = Visitor(site.address, site.link("ana", days=1))
    assert ana.entered.status_code == 200
    site.clock.passed += 86401  # a day and a second
    assert ana.http.get("/").status_code == 403


def test_an_expired_link_opens_nothing(site: Site) -> None:
    ana = Visitor(site.address, site.link("ana", days=-1))
    assert "This link has expired" in ana.entered.text


def test_a_link_for_one_task_shows_no_other(site: Site) -> None:
    site.backend.ask(FORM, [A])
    site.backend.ask(BRING, [Unit(task=BRING.name, unit_id="x")])
    ana = Visitor(site.address, site.link("ana", [BRING.name]))
    assert FORM.title not in ana.http.get("/").text
    unit_path = shown(site, "ana").url.path
    assert ana.http.get(unit_path).status_code == 404
    assert ana.http.get(unit_path.partition("/i/")[0] + "/next").status_code == 404


@pytest.fixture
def store(tmp_path: Path) -> PagesStore:
    return PagesStore(tmp_path / "pages.sqlite")


def test_the_file_of_the_key_is_readable_only_by_its_owner(store, tmp_path):
    LinkSigner.beside(store)
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600


def test_a_key_that_others_can_read_is_refused(store: PagesStore, tmp_path: Path) -> None:
    LinkSigner.beside(store)
    (tmp_path / NAME).chmod(0o644)
    with pytest.raises(AnnotationError, match="readable by others"):
        LinkSigner.beside(store)


def test_a_damaged_key_is_refused(store: PagesStore, tmp_path: Path) -> None:
    LinkSigner.beside(store)
    (tmp_path / NAME).write_text("ab")
    with pytest.raises(AnnotationError, match="not a key"):
        LinkSigner.beside(store)


def test_a_link_is_read_as_long_as_its_key_is_there(store: PagesStore, tmp_path: Path) -> None:
    link = LinkSigner.beside(store).make("ana", tasks=(), until=99)
    assert LinkSigner.beside(store).read(link, 98).person == "ana"
    (tmp_path / NAME).unlink()
    with pytest.raises(LinkError):
        LinkSigner.beside(store).read(link, 98)


def test_a_full_disk_leaves_no_half_key(store: PagesStore) -> None:
    with full_disk(), pytest.raises(HomeError, match=f"{NAME}: cannot be written"):
        LinkSigner.beside(store)
    assert LinkSigner.beside(store).make("ana", tasks=(), until=99)


@pytest.mark.parametrize("person", ["", "a b", "../x", "p1@lab.example", "a" * 65, "a\n"])
def test_a_person_without_a_pseudonym_gets_no_link(store: PagesStore, person: str) -> None:
    with pytest.raises(AnnotationError, match="not a pseudonym"):
        LinkSigner.beside(store).make(person, tasks=(), until=99)
