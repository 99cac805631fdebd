"""What links open: nothing where they are forged, late, revoked or for something else."""

import re
from collections.abc import Callable
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

FORGED: dict[str, Callable[[str], str]] = {
    "nothing": lambda _: "/in/x",
    "not signed": lambda link: link.partition(".")[0],
    "another's signature": lambda link: link[:-6] + "AAAAAA",
    "another person": lambda link: re.sub(r"/in/.{12}", "/in/WyJiZW4iLCBb", link),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_forged_link_opens_nothing(site: Site, forge: Callable[[str], str]) -> None:
    page = httpx.get(site.address + forge(site.link("ana")), trust_env=False)
    assert page.status_code in (403, 404)
    assert "set-cookie" not in page.headers


def test_without_a_link_no_page_is_shown(site: Site) -> None:
    site.people.ask(FORM, [A])
    for path in ("/", "/f/1/next", "/f/1/mine", "/f/1/i/1", "/upload/0", "/f/1/i/1/image/0"):
        page = httpx.get(site.address + path, trust_env=False)
        assert page.status_code == 403, path
        assert "open the link" in page.text


def test_a_link_that_was_revoked_or_expired_opens_nothing_from_then_on(site: Site) -> None:
    site.people.ask(FORM, [A])
    ana = Visitor(site.address, site.link("ana"))
    assert ana.entered.status_code == 200
    LinkSigner.beside(site.store).revoke("ana")
    assert "revoked" in ana.http.get("/").text
    ana = Visitor(site.address, site.link("ana", days=1))
    assert ana.entered.status_code == 200
    site.clock.passed += 86401
    assert ana.http.get("/").status_code == 403
    late = Visitor(site.address, site.link("ana", days=-1))
    assert "This link has expired" in late.entered.text


def test_a_link_for_one_form_shows_no_other(site: Site) -> None:
    site.people.ask(FORM, [A])
    site.people.ask(BRING, [Unit(task=BRING.name, unit_id="x")])
    ana = Visitor(site.address, site.link("ana", [BRING.name]))
    assert FORM.title not in ana.http.get("/").text
    every = shown(site, "ana").url.path
    assert ana.http.get(every).status_code == 404
    assert ana.http.get(every.partition("/i/")[0] + "/next").status_code == 404


def test_the_key_is_the_owner_s_alone(tmp_path: Path) -> None:
    store = PagesStore(tmp_path / "pages.sqlite")
    link = LinkSigner.beside(store).make("ana", (), 99)
    file = tmp_path / NAME
    assert file.stat().st_mode & 0o777 == 0o600
    assert LinkSigner.beside(store).read(link, 98).person == "ana"
    file.chmod(0o644)
    with pytest.raises(AnnotationError, match="readable by others"):
        LinkSigner.beside(store)
    file.chmod(0o600)
    file.write_text("ab")
    with pytest.raises(AnnotationError, match="not a key"):
        LinkSigner.beside(store)
    file.unlink()
    with pytest.raises(LinkError):
        LinkSigner.beside(store).read(link, 98)


def test_a_full_disk_leaves_no_half_key(tmp_path: Path) -> None:
    store = PagesStore(tmp_path / "pages.sqlite")
    with full_disk(), pytest.raises(HomeError, match=f"{NAME}: cannot be written"):
        LinkSigner.beside(store)
    assert LinkSigner.beside(store).make("ana", (), 99)


@pytest.mark.parametrize("person", ["", "a b", "../x", "p1@lab.example", "a" * 65, "a\n"])
def test_what_is_no_pseudonym_gets_no_link(tmp_path: Path, person: str) -> None:
    with pytest.raises(AnnotationError, match="not a pseudonym"):
        LinkSigner.beside(PagesStore(tmp_path / "pages.sqlite")).make(person, (), 99)
