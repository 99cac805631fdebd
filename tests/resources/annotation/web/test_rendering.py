import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import pytest

from bench_assets.annotation.tasks import Unit
from bench_resources.images.store import ImageStore
from tests.fakes.annotation_pages import Site

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request
from tests.browser.people_forms import EVERY, VOTES, draw_sun

pytestmark = pytest.mark.browser
HARM = '<script>alert("harm")</script> \u202eback'


@pytest.fixture
def site(shared_site: Site) -> Site:
    shared_site.forget()
    image_store = ImageStore(folder=str(shared_site.images))
    first, second = (image_store.put(draw_sun(c), c).sha256 for c in ("steelblue", "seagreen"))
    shared_site.backend.ask(EVERY, [
        Unit(task=EVERY.name, unit_id=f"e{n}", shown={"Question": f"Question {n}: {HARM}"},
             images={"Image": first}, needed=4) for n in range(2)
    ])  # fmt: skip
    texts = {"Caption A": "A sun over water.", "Caption B": "Water. " * 60}
    images = {"First": first, "Second": second}
    shared_site.backend.ask(VOTES, [
        Unit(task=VOTES.name, unit_id=f"v{n}", needed=4, images=images, shown=texts)
        for n in range(3)
    ])  # fmt: skip
    return shared_site


def enter(page: "Page", site: Site) -> None:
    """Come by a link; a request to another host, or a dialog, fails the test."""

    def refuse_other_hosts(request: "Request") -> None:
        if not request.url.startswith(("data:", site.address)):
            pytest.fail(request.url)

    page.on("request", refuse_other_hosts)
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    page.goto(site.address + site.link("ana"))
    page.get_by_role("heading", name="Your tasks").wait_for()


def open_task(page: "Page", title: str, *, scripted: bool = True) -> None:
    page.locator("section.card", has_text=title).get_by_role("link", name="Begin").click()
    page.locator("form.answer").wait_for()
    if scripted:
        wait_for_scripts(page)


def wait_for_scripts(page: "Page") -> None:
    """Wait until the scripts of a unit are loaded: until then a key chooses nothing."""
    page.locator(".scripted:not([hidden])").first.wait_for(state="attached")


def tab_to(page: "Page", name: str) -> None:
    """Press Tab until a field of that name, or a link with that text, has the focus."""
    for _ in range(40):
        if name in page.evaluate(
            "[document.activeElement.name, document.activeElement.textContent]"
        ):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"no Tab leads to {name}")


def test_all_units_are_answered_with_keys_alone(page: "Page", site: Site) -> None:
    enter(page, site)
    tab_to(page, f"Begin: {VOTES.title}")
    page.keyboard.press("Enter")
    for key in ("1", "2", "3"):
        wait_for_scripts(page)
        unit_url = page.url
        page.keyboard.press(key)
        page.wait_for_function("document.activeElement.name === 'why'")
        page.keyboard.type("12 reasons")  # digits choose nothing in a text field
        page.keyboard.press("Control+Enter")
        page.wait_for_url(re.compile(f"^(?!{re.escape(unit_url)}$)"))
    page.get_by_role("heading", name="Thank you").wait_for()
    answers = site.backend.answers(VOTES)
    assert [answer.values["better"] for answer in answers] == [("A",), ("B",), ("neither",)]
    assert [answer.values["why"] for answer in answers] == [("12 reasons",)] * 3


def test_each_kind_of_field_is_filled_in_with_keys_alone(page, site, tmp_path):
    enter(page, site)
    open_task(page, EVERY.title)
    first_url = page.url
    page.keyboard.press("1")
    page.keyboard.press("1")
    page.keyboard.press("3")
    tab_to(page, "title")
    page.keyboard.type("A day")
    tab_to(page, "entities")
    page.keyboard.type("sun\nwater")
    page.locator(".target").focus()
    for _ in range(2):
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.press("Backspace")
    file = tmp_path / "own.png"
    file.write_bytes(draw_sun("pink"))
    page.locator('input[type="file"]').set_input_files(file)
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(f"^(?!{re.escape(first_url)}$)"))
    (answer,) = site.backend.answers(EVERY)
    (uploaded,) = answer.values["own"]
    assert answer.values == {
        "unusual": ("yes",), "seen": ("sky", "sea"), "title": ("A day",),
        "entities": ("sun", "water"), "places": ("0.70000 0.40000",), "own": (uploaded,),
    }  # fmt: skip
    assert ImageStore(folder=str(site.images)).read(uploaded) == draw_sun("pink")


def visit_pages(page: "Page", site: Site) -> Iterator[str]:
    """Open each kind of page in turn; yields its name while it is shown."""
    enter(page, site)
    yield "home"
    open_task(page, VOTES.title)
    yield "pair"
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    page.get_by_text("1 answered, 2 left").wait_for()
    page.get_by_role("link", name="My answers").click()
    yield "mine"
    page.goto(site.address)
    open_task(page, EVERY.title)
    yield "every"
    for _ in range(2):
        page.get_by_role("button", name="Skip").click()
    page.get_by_role("heading", name="Thank you").wait_for()
    yield "thanks"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_violation_on_any_page(
    page: "Page", site: Site, theme: Literal["light", "dark"]
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe")
    page.emulate_media(color_scheme=theme)
    violations = {
        name: axe.Axe().run(page, options={"preload": False}).response["violations"]
        for name in visit_pages(page, site)
    }
    assert violations == {"home": [], "pair": [], "mine": [], "every": [], "thanks": []}


def test_pages_fit_a_phone_and_their_buttons_are_large_enough(chromium, site):
    context = chromium.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    context.set_default_timeout(30_000)
    page = context.new_page()
    for name in visit_pages(page, site):
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390, name
        small_buttons = page.locator("button, .choice, a.button").evaluate_all(
            "all => all.filter(o => o.offsetHeight && o.offsetHeight < 32).map(o => o.outerHTML)"
        )
        assert small_buttons == [], name
    context.close()
