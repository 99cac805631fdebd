import logging
import re
import socket
import sys
from contextlib import ExitStack
from html import unescape
from pathlib import Path

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


def post_vote(site: Site, form_token: str) -> int:
    """Send ana's next unit with this token; return the status."""
    fields = {"form-token": form_token, "correct": "yes"}
    return site.visitor("ana").http.post(shown(site).url.path, data=fields).status_code


@pytest.mark.parametrize("form_token", ["", "x", "é"])
def test_a_form_with_an_invalid_token_is_refused(site: Site, form_token: str) -> None:
    site.backend.ask(FORM, [A])
    assert post_vote(site, form_token) == 403
    assert site.backend.answers(FORM) == []


def test_a_form_with_the_token_of_another_person_is_refused(site: Site) -> None:
    site.backend.ask(FORM, [A])
    assert post_vote(site, token(shown(site, "ben"))) == 403
    assert site.backend.answers(FORM) == []


@pytest.mark.parametrize("host", ["lab.example", "{own}"], ids=["passed on", "not passed on"])
def test_behind_a_proxy_forms_are_accepted_and_cookies_are_secure(tmp_path, host):
    with Site(tmp_path, url="https://lab.example") as site:
        site.backend.ask(FORM, [A])
        cookie = httpx.get(site.address + site.link("ana"), trust_env=False).headers["set-cookie"]
        assert "secure" in cookie
        # A client does not send a secure cookie over http; the proxy passes it on.
        headers = {"Cookie": cookie.partition(";")[0]}
        with httpx.Client(base_url=site.address, headers=headers, trust_env=False) as ana:
            page = ana.get(ana.get("/f/1/next").headers["location"])
            sent = ana.post(
                page.url.path,
                data={"form-token": token(page), "correct": "yes"},
                headers={"Host": host.format(own=site.address.removeprefix("http://"))},
            )
        assert sent.status_code == 303


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "[::2]"])
def test_a_request_to_another_host_name_is_refused(site: Site, host: str) -> None:
    assert httpx.get(site.address, headers={"Host": host}, trust_env=False).status_code == 400


@pytest.mark.parametrize("path", ["/", "/f/1/next", "/static/pages.css", "/nowhere", "/in/x"])
def test_every_response_restricts_what_its_page_may_load(site: Site, path: str) -> None:
    site.backend.ask(FORM, [A])
    headers = site.visitor("ana").http.get(path).headers
    assert "default-src 'none'; script-src 'self'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_a_page_has_no_inline_script_or_style(site: Site) -> None:
    site.backend.ask(FORM, [A])
    page = shown(site).text
    assert "<script>" not in page
    assert " style=" not in page


def test_the_cookie_is_for_no_script_and_no_other_site(site: Site) -> None:
    cookie = httpx.get(site.address + site.link("ana"), trust_env=False).headers["set-cookie"]
    assert "httponly" in cookie
    assert "samesite=lax" in cookie


def test_a_missing_field_is_named_and_the_others_are_kept(site: Site) -> None:
    site.backend.ask(FORM, [A])
    page = site.visitor("ana").send(shown(site), comment="half <b>done</b>")
    assert page.status_code == 422
    assert 'href="#field-correct"' in page.text
    assert "Please choose." in page.text
    assert "half &lt;b&gt;done&lt;/b&gt;</textarea>" in page.text
    assert site.backend.answers(FORM) == []


def test_a_choice_that_is_no_option_is_refused(site: Site) -> None:
    site.backend.ask(FORM, [A])
    page = site.visitor("ana").send(shown(site), correct="maybe")
    assert page.status_code == 422
    assert "none of yes, no" in page.text
    assert site.backend.answers(FORM) == []


BODIES: dict[str, tuple[list[bytes], int]] = {
    "a field of 5 MB": ([b"correct=" + b"a" * (5 * 2**20)], 400),
    "30 MB, in pieces": ([b"correct=a&" + b"a" * 2**20] * 30, 413),
    "no token": ([b"{}"], 403),
}


@pytest.mark.parametrize(("pieces", "status"), BODIES.values(), ids=BODIES)
def test_a_body_that_is_too_large_or_no_form_is_refused(site, pieces, status):
    site.backend.ask(FORM, [A])
    page, http = shown(site), site.visitor("ana").http
    headers = {"content-type": "application/x-www-form-urlencoded"}
    sent = http.post(page.url.path, content=iter(pieces), headers=headers)
    assert sent.status_code == status
    assert site.backend.answers(FORM) == []


def test_a_person_above_the_rate_of_answers_is_refused(tmp_path: Path) -> None:
    with Site(tmp_path, rates=NO_LIMITS | {"answer": Rate(2, 0.001)}) as site:
        site.backend.ask(FORM, [unit(f"i{n}") for n in range(4)])
        ana, ben = site.visitor("ana"), site.visitor("ben")
        statuses = [ana.send(shown(site), correct="yes").status_code for _ in range(3)]
        assert statuses == [200, 200, 429]
        assert ben.send(shown(site, "ben"), correct="no").status_code == 200


def test_guesses_of_links_above_a_rate_are_refused_until_a_time(tmp_path: Path) -> None:
    with Site(tmp_path, rates=NO_LIMITS | {"link": Rate(3, 0.001)}) as site:
        guesses = [httpx.get(f"{site.address}/in/x{n}", trust_env=False) for n in range(4)]
        assert [guess.status_code for guess in guesses] == [403, 403, 403, 429]
        # 0.001 a second is one every 1,000 s; some have passed by the fourth guess.
        assert 900 < int(guesses[-1].headers["retry-after"]) <= 1000


HOSTILE = "<script>alert(1)</script>\"'>&amp;\u202eback ../../etc/passwd {{7*7}} \x00\x1b[31m"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.fixture
def hostile_task(site: Site) -> AnnotationTask:
    """A published task with hostile texts everywhere; its unit is the first of the site."""
    task = AnnotationTask(
        name="codis/votes", title=f"title{HOSTILE}", instructions=f"instructions{HOSTILE}",
        fields=(Field(name="a", kind="choice", label=f"label{HOSTILE}", choices=(HOSTILE, "b")),
                Field(name="t", kind="text", label="t", required=False)),
    )  # fmt: skip
    unit_shown = {f"heading{HOSTILE}": f"text{HOSTILE}"}
    site.backend.ask(task, [Unit(task=task.name, unit_id=HOSTILE, shown=unit_shown)])
    return task


@pytest.mark.usefixtures("hostile_task")
@pytest.mark.parametrize("place", ["title", "instructions", "label", "heading", "text"])
def test_a_hostile_text_is_shown_with_its_control_characters_escaped(site, place):
    page = site.visitor("ana").next("/f/1")
    assert f"{place}{escape_controls(HOSTILE)}" in unescape(page.text)


def test_hostile_answers_are_stored_unchanged_and_shown_as_text(site, hostile_task):
    ana = site.visitor("ana")
    page = ana.next("/f/1")
    ana.send(page, a=escape_controls(HOSTILE), t=HOSTILE)
    (answer,) = site.backend.answers(hostile_task)
    assert answer.values == {"a": (HOSTILE,), "t": (HOSTILE,)}
    for path in ("/", "/f/1/mine", page.url.path):
        text = ana.http.get(path).text
        assert not CONTROL.search(text)
        assert "<script>alert" not in text


def test_logs_have_no_links_pseudonyms_or_answers(site, caplog):
    site.backend.ask(FORM, [A])
    link = site.link("pseudonym-of-ana")
    with caplog.at_level(logging.DEBUG, "bench_assets"), caplog.at_level(logging.DEBUG, "uvicorn"):
        visitor = Visitor(site.address, link)
        visitor.send(visitor.next(visitor.task(FORM.title)), correct="yes", comment="secret-words")
        site.store.file.write_bytes(b"no data base" * 999)
        visitor.http.get("/")  # logs an error
    messages = [
        record.getMessage() for record in caplog.records if not record.name.startswith("http")
    ]
    assert messages
    log = "\n".join(messages)
    assert "pseudonym-of-ana" not in log
    assert link not in log
    assert "secret-words" not in log


def test_the_page_of_a_damaged_store_does_not_show_its_path(site: Site) -> None:
    ana = site.visitor("ana")
    site.store.file.write_bytes(b"no data base" * 999)
    page = ana.http.get("/")
    assert page.status_code == 503
    assert "cannot be used now" in page.text
    assert str(site.store.file) not in page.text


def test_without_their_packages_the_error_names_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "bench.toml").write_text('[annotation]\nkind = "pages"\n')
    assert setup_of(load_settings(tmp_path))
    monkeypatch.setitem(sys.modules, "python_multipart", None)
    with pytest.raises(SettingsError, match=r"pip install 'bench-assets\[annotate\]'"):
        setup_of(load_settings(tmp_path))


def test_a_port_in_use_is_named(site: Site, tmp_path: Path) -> None:
    port = int(site.address.rpartition(":")[2])
    images = ImageFolder(str(tmp_path))
    setup = Setup(store=PagesStore(tmp_path / "pages.sqlite"), images=images)
    with pytest.raises(SettingsError, match=f"port {port}.*--port"):
        PagesServer(setup, port=port)


def test_pages_are_served_at_an_ipv6_address(tmp_path: Path) -> None:
    setup = Setup(store=PagesStore(tmp_path / "pages.sqlite"), images=ImageFolder(str(tmp_path)))
    with PagesServer(setup, "::1", 0) as server:
        assert httpx.get(f"{server.address}/health", trust_env=False).text == "ok"


@pytest.mark.parametrize(
    ("origins", "status"),
    [
        pytest.param([], 303, id="none is sent"),
        pytest.param(["{own}"], 303, id="its own"),
        pytest.param(["https://evil.example"], 403, id="another"),
        pytest.param(["null"], 403, id="null"),
        pytest.param(["http://[::1"], 403, id="no URL"),
    ],
)
def test_a_form_with_the_origin_of_another_site_is_refused(
    site: Site, origins: list[str], status: int
) -> None:
    site.backend.ask(FORM, [A])
    page = shown(site)
    headers = [("Origin", origin.format(own=site.address)) for origin in origins]
    sent = site.visitor("ana").http.post(
        page.url.path,
        data={"form-token": token(page), "correct": "yes"},
        headers=headers,
        follow_redirects=False,
    )
    assert sent.status_code == status


def test_half_open_connections_shut_nobody_out_and_are_closed(site, monkeypatch):
    monkeypatch.setattr("bench_resources.annotation.web.server._QUIET", 0.5)
    host, port = site.address.removeprefix("http://").split(":")
    half_requests = [
        *(b"" for _ in range(100)),
        *(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: " for _ in range(100)),
        *(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n" for _ in range(100)),
    ]
    with ExitStack() as stack:
        connections = []
        for data in half_requests:
            connection = stack.enter_context(socket.create_connection((host, int(port))))
            connection.sendall(data)
            connections.append(connection)
        assert httpx.get(site.address + site.link("ana"), trust_env=False).status_code == 303
        for connection in connections:
            connection.settimeout(10)
            while connection.recv(65536):  # until the server closes it
                pass
