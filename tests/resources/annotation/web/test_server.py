"""What the pages refuse: what comes from elsewhere, is too much or too fast; what no log tells."""

import logging
import re
import socket
import sys
from contextlib import ExitStack
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench_assets.annotation.tasks import AnnotationTask, Field, Unit
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.text.escaping import escape_controls
from bench_resources.annotation.web.server import PagesServer, Setup, setup_of
from bench_resources.annotation.web.sessions import Rate
from bench_resources.annotation.web.store import PagesStore
from bench_resources.config.bench_toml import load_settings
from bench_resources.images.locations import ImageFolder
from tests.fakes.annotation_pages import NO_LIMITS, Site, Visitor, shown, token
from tests.resources.annotation.port_cases import FORM, A, unit


def test_a_form_without_its_token_or_with_another_s_is_refused(site: Site) -> None:
    site.people.ask(FORM, [A])
    page, other = shown(site), shown(site, "ben")
    for given in ("", "x", "é", token(other)):
        sent = site.visitor("ana").http.post(
            page.url.path, data={"form-token": given, "correct": "yes"}
        )
        assert sent.status_code == 403
    assert site.people.answers(FORM) == []


def test_behind_a_proxy_pages_are_called_by_its_name_and_cookies_are_secure(tmp_path: Path) -> None:
    with Site(tmp_path, url="https://lab.example") as site:
        site.people.ask(FORM, [A])
        link = site.link("ana")
        entered = httpx.get(site.address + link, trust_env=False)
        assert "secure" in entered.headers["set-cookie"]  # which is why it is sent by hand here
        with httpx.Client(base_url=site.address, trust_env=False) as ana:
            # Secure cookies are not sent over http: the proxy would.
            ana.headers["Cookie"] = entered.headers["set-cookie"].partition(";")[0]
            page = ana.get(ana.get("/f/1/next").headers["location"])
            for host in ("lab.example", site.address.removeprefix("http://")):  # passed on, or not
                sent = ana.post(
                    page.url.path,
                    data={"form-token": token(page), "correct": "yes"},
                    headers={"Host": host},
                )
                assert sent.status_code == 303


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "[::2]"])
def test_pages_are_not_called_by_another_name(site: Site, host: str) -> None:
    assert httpx.get(site.address, headers={"Host": host}, trust_env=False).status_code == 400


def test_every_response_says_what_the_page_may_do(site: Site) -> None:
    site.people.ask(FORM, [A])
    ana = site.visitor("ana")
    for path in ("/", shown(site).url.path, "/static/pages.css", "/nowhere", "/in/x"):
        headers = ana.http.get(path).headers
        assert "default-src 'none'; script-src 'self'" in headers["content-security-policy"], path
        assert headers["x-content-type-options"] == "nosniff"
    assert "<script>" not in shown(site).text
    assert " style=" not in shown(site).text
    cookie = httpx.get(site.address + site.link("ana"), trust_env=False).headers["set-cookie"]
    assert "httponly" in cookie
    assert "samesite=lax" in cookie


def test_what_is_incomplete_is_named_and_kept(site: Site) -> None:
    site.people.ask(FORM, [A])
    page = site.visitor("ana").send(shown(site), comment="half <b>done</b>")
    assert page.status_code == 422
    assert 'href="#field-correct"' in page.text
    assert "Please choose." in page.text
    assert "half &lt;b&gt;done&lt;/b&gt;</textarea>" in page.text
    page = site.visitor("ana").send(page, correct="maybe")
    assert (page.status_code, "none of yes, no" in page.text) == (422, True)
    assert site.people.answers(FORM) == []


BODIES: dict[str, tuple[Any, int]] = {
    "a field of 5 MB": (b"correct=" + b"a" * (5 * 2**20), 400),
    "30 MB, in pieces": (lambda: iter([b"correct=a&" + b"a" * 2**20] * 30), 413),
    "no token": (b"{}", 403),
}


@pytest.mark.parametrize(("content", "status"), BODIES.values(), ids=BODIES)
def test_what_is_too_large_or_no_form_is_refused(site: Site, content: Any, status: int) -> None:
    site.people.ask(FORM, [A])
    page, http = shown(site), site.visitor("ana").http
    kind = {"content-type": "application/x-www-form-urlencoded"}
    body = content() if callable(content) else content
    assert http.post(page.url.path, content=body, headers=kind).status_code == status
    assert site.people.answers(FORM) == []


def test_a_visitor_above_a_rate_is_refused_until_a_time(tmp_path: Path) -> None:
    rates = NO_LIMITS | {"answer": Rate(2, 0.001), "link": Rate(3, 0.001)}
    with Site(tmp_path, rates=rates) as site:
        site.people.ask(FORM, [unit(f"i{n}") for n in range(4)])
        ana = site.visitor("ana")
        statuses = [ana.send(shown(site), correct="yes").status_code for _ in range(3)]
        assert statuses == [200, 200, 429]
        assert site.visitor("ben").send(shown(site, "ben"), correct="no").status_code == 200
        guesses = [httpx.get(f"{site.address}/in/x{n}", trust_env=False) for n in range(4)]
        assert [guess.status_code for guess in guesses] == [403, 403, 403, 429]
        assert int(guesses[-1].headers["retry-after"]) > 1


HOSTILE = "<script>alert(1)</script>\"'>&amp;\u202eback ../../etc/passwd {{7*7}} \x00\x1b[31m"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


def test_hostile_texts_are_texts_with_control_characters_by_their_numbers(site: Site) -> None:
    task = AnnotationTask(
        name="codis/votes", title=f"t{HOSTILE}", instructions=f"i{HOSTILE}",
        fields=(Field(name="a", kind="choice", label=f"l{HOSTILE}", choices=(HOSTILE, "b")),
                Field(name="t", kind="text", label="t", required=False)),
    )  # fmt: skip
    unit_shown = {f"h{HOSTILE}": f"s{HOSTILE}"}
    site.people.ask(task, [Unit(task=task.name, unit_id=HOSTILE, shown=unit_shown)])
    ana = site.visitor("ana")
    page = ana.next("/f/1")
    for letter in "tilhs":
        assert f"{letter}{escape_controls(HOSTILE)}" in unescape(page.text)
    ana.send(page, a=escape_controls(HOSTILE), t=HOSTILE)
    (only,) = site.people.answers(task)
    assert (only.values["a"], only.values["t"]) == ((HOSTILE,), (HOSTILE,))
    for path in ("/", "/f/1/mine", page.url.path):
        text = ana.http.get(path).text
        assert not CONTROL.search(text)
        assert "<script>alert" not in text


def test_logs_tell_no_links_and_nobody(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    site.people.ask(FORM, [A])
    with caplog.at_level(logging.DEBUG, "bench_assets"), caplog.at_level(logging.DEBUG, "uvicorn"):
        visitor = Visitor(site.address, link := site.link("pseudonym-of-ana"))
        visitor.send(visitor.next(visitor.task(FORM.title)), correct="yes", comment="secret-words")
        site.store.file.with_name(f"{site.store.file.name}").write_bytes(b"no data base" * 999)
        broken = visitor.http.get("/")
    assert broken.status_code == 503
    assert "cannot be used now" in broken.text
    assert str(site.store.file) not in broken.text
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith("http")]
    assert not [
        line for line in ours if "pseudonym-of-ana" in line or link in line or "words" in line
    ]


def test_without_their_packages_the_error_names_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bench.toml").write_text('[annotation]\nkind = "pages"\n')
    assert setup_of(load_settings(tmp_path))
    monkeypatch.setitem(sys.modules, "python_multipart", None)
    with pytest.raises(SettingsError, match=r"pip install 'bench-assets\[annotate\]'"):
        setup_of(load_settings(tmp_path))


def test_a_port_that_is_taken_is_named(site: Site, tmp_path: Path) -> None:
    port = int(site.address.rpartition(":")[2])
    images = ImageFolder(str(tmp_path))
    setup = Setup(store=PagesStore(tmp_path / "pages.sqlite"), images=images)
    with pytest.raises(SettingsError, match=f"port {port}.*--port"):
        PagesServer(setup, port=port)


def test_the_address_of_ipv6_opens_the_pages(tmp_path: Path) -> None:
    setup = Setup(store=PagesStore(tmp_path / "pages.sqlite"), images=ImageFolder(str(tmp_path)))
    with PagesServer(setup, "::1", 0) as served:
        assert httpx.get(f"{served.address}/health", trust_env=False).text == "ok"


@pytest.mark.parametrize(
    ("origin", "status"),
    [("", 303), ("{own}", 303), ("https://evil.example", 403), ("null", 403), ("http://[::1", 403)],
)
def test_forms_of_other_sites_are_refused(site: Site, origin: str, status: int) -> None:
    site.people.ask(FORM, [A])
    page = shown(site)
    headers = {"Origin": origin.format(own=site.address)} if origin else {}
    sent = site.visitor("ana").http.post(
        page.url.path,
        data={"form-token": token(page), "correct": "yes"},
        headers=headers,
        follow_redirects=False,
    )
    assert sent.status_code == status


def test_half_open_connections_shut_nobody_out_and_are_closed(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench_resources.annotation.web.server._QUIET", 0.5)
    host, port = site.address.removeprefix("http://").split(":")
    begun = [
        *(b"" for _ in range(100)),
        *(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: " for _ in range(100)),
        *(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n" for _ in range(100)),
    ]
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_connection((host, int(port)))) for _ in begun]
        for connection, data in zip(sockets, begun, strict=True):
            connection.sendall(data)
        assert httpx.get(site.address + site.link("ana"), trust_env=False).status_code == 303
        for connection in sockets:
            connection.settimeout(10)
            while connection.recv(65536):
                pass
