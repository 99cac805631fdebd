from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest

from bench_assets.annotation.tasks import AnnotationTask, Field, Unit
from bench_resources.images.store import ImageStore
from tests.browser.people_forms import draw_sun
from tests.fakes.annotation_pages import Site
from tests.resources.annotation.web.test_rendering import enter, open_task

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

MARKS = AnnotationTask(
    name="quiz/marks",
    title="Mark the sun",
    instructions="",
    fields=(
        Field(
            name="points",
            kind="points",
            label="2 points",
            choices=("left edge", "right edge"),
            least=2,
            most=2,
        ),
        Field(name="boxes", kind="boxes", label="Every sun", most=2),
    ),
)
IMAGE_SIZE = (640, 480)  # px, of the image
POINTER_ERROR = 1.0  # px of the image, which is shown larger than it is
TOUCH_ERROR = 3.0  # px of the image, of which a narrow screen shows two in a CSS px


@pytest.fixture(scope="module")
def empty_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("home")) as site:
        yield site


@pytest.fixture
def site(empty_site: Site) -> Site:
    """A site that asks for marks on an image of the sun."""
    empty_site.forget()
    sha256 = ImageStore(folder=str(empty_site.images)).put(draw_sun("steelblue"), "sky").sha256
    units = [Unit(task=MARKS.name, unit_id="sky", images={"Image": sha256}, needed=9)]
    empty_site.backend.ask(MARKS, units)
    return empty_site


class Canvas:
    """The image of a page, addressed in its own px."""

    def __init__(self, page: "Page") -> None:
        area = page.locator(".target").bounding_box()
        assert area is not None
        self._page, self._area = page, area

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The position on the page, in CSS px, of a pixel of the image."""
        width, height = IMAGE_SIZE
        left, top = self._area["x"], self._area["y"]
        return left + x * self._area["width"] / width, top + y * self._area["height"] / height

    def click(self, x: float, y: float) -> None:
        self._page.mouse.click(*self.at(x, y))

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        self._page.mouse.move(*self.at(*start))
        self._page.mouse.down()
        self._page.mouse.move(*self.at(*end), steps=4)
        self._page.mouse.up()

    def marks(self, field: str) -> np.ndarray:
        """The marks of a field, a row of coordinates each, in px of the image."""
        lines = self._page.locator(f'textarea[name="{field}"]').input_value().splitlines()
        shares = np.array([line.split() for line in lines], float)
        return shares * np.tile(IMAGE_SIZE, shares.shape[1] // 2)


def open_marks(page: "Page", site: Site) -> Canvas:
    """Enter the site and open the unit; return its image."""
    enter(page, site)
    open_task(page, MARKS.title)
    page.locator(".target").wait_for()
    return Canvas(page)


def choose_boxes(page: "Page") -> None:
    page.locator("#field-boxes").get_by_role("button", name="Mark on the image").click()


def is_near(marks: np.ndarray, *expected: tuple[float, ...], error: float = POINTER_ERROR) -> bool:
    """Whether the marks are the expected ones, each within an error in px of the image."""
    return marks.shape == np.shape(expected) and bool((abs(marks - expected) <= error).all())


def test_clicks_and_drags_mark_points_and_boxes_that_are_sent(page: "Page", site: Site) -> None:
    canvas = open_marks(page, site)
    page.get_by_text("Next, 1 of 2: left edge.").wait_for()
    canvas.click(400, 120)
    page.get_by_text("Next, 2 of 2: right edge.").wait_for()
    canvas.click(520, 120)
    assert is_near(canvas.marks("points"), (400, 120), (520, 120))
    page.get_by_text("right edge: 520, 120 px").wait_for()
    canvas.click(10, 10)  # a third one is not taken
    page.get_by_text("All 2 are marked").wait_for()
    choose_boxes(page)
    canvas.drag((520, 180), (400, 60))  # from the lower right
    canvas.click(0.5, 0.5)
    page.get_by_text("Now the opposite corner.").wait_for()
    canvas.click(200, 100)
    assert is_near(canvas.marks("boxes"), (400, 60, 520, 180), (0.5, 0.5, 200, 100))
    assert page.locator(".box").count() == 2
    assert page.locator(".mark").all_inner_texts() == ["1", "2"]
    page.get_by_role("button", name="Send").click()
    page.get_by_role("heading", name="Thank you").wait_for()
    (answer,) = site.backend.answers(MARKS)
    assert len(answer.values["points"]) == len(answer.values["boxes"]) == 2


def test_marks_are_moved_removed_and_undone(page: "Page", site: Site) -> None:
    canvas = open_marks(page, site)
    canvas.click(100, 100)
    canvas.click(300, 300)
    canvas.drag((100, 100), (120, 90))  # the first point, by hand
    assert is_near(canvas.marks("points"), (120, 90), (300, 300))
    page.get_by_role("button", name="Remove left edge 1").click()
    assert is_near(canvas.marks("points"), (300, 300))
    page.get_by_role("button", name="Undo").click()
    assert is_near(canvas.marks("points"), (120, 90), (300, 300))
    page.get_by_role("button", name="Undo").click()
    assert is_near(canvas.marks("points"), (100, 100), (300, 300))
    page.get_by_text("Coordinates as text").first.click()
    page.locator('textarea[name="points"]').fill("0.5 0.5\n0.5 1.5")
    page.get_by_text("right edge: not on the image").wait_for()
    assert page.locator(".mark").count() == 1


def test_marks_are_made_with_keys_alone(page: "Page", site: Site) -> None:
    """The cross starts at (320, 240); arrows move it by 1/100, with Shift 1/10, with Ctrl 1 px."""
    canvas = open_marks(page, site)
    page.wait_for_function("document.activeElement.classList.contains('target')")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Control+ArrowUp")
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Enter")
    page.keyboard.press("Backspace")
    page.keyboard.press("Control+z")
    assert is_near(canvas.marks("points"), (313.6, 239), (377.6, 239))
    page.locator("#field-boxes .activate").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Shift+ArrowUp")
    page.keyboard.press("Enter")
    assert is_near(canvas.marks("boxes"), (313.6, 191, 377.6, 239))
    page.keyboard.press("Control+Enter")
    page.get_by_role("heading", name="Thank you").wait_for()
    assert len(site.backend.answers(MARKS)) == 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_marks_pass_axe(page: "Page", site: Site, theme: Literal["light", "dark"]) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe")
    page.emulate_media(color_scheme=theme)
    canvas = open_marks(page, site)
    canvas.click(400, 120)
    choose_boxes(page)
    canvas.drag((400, 60), (520, 180))
    page.get_by_text("Keys", exact=True).click()
    results = axe.Axe().run(page)
    assert not results.response["violations"], results.generate_report()


def test_marks_are_made_by_touch_on_a_phone(chromium: "Browser", site: Site) -> None:
    context = chromium.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    context.set_default_timeout(30_000)
    page = context.new_page()
    canvas = open_marks(page, site)
    page.touchscreen.tap(*canvas.at(400, 120))
    page.touchscreen.tap(*canvas.at(520, 120))
    assert is_near(canvas.marks("points"), (400, 120), (520, 120), error=TOUCH_ERROR)
    choose_boxes(page)
    page.evaluate("scrollTo(0, 0)")
    page.touchscreen.tap(*canvas.at(400, 60))
    page.touchscreen.tap(*canvas.at(520, 180))
    assert is_near(canvas.marks("boxes"), (400, 60, 520, 180), error=TOUCH_ERROR)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def test_marks_are_typed_without_scripts(chromium: "Browser", site: Site) -> None:
    context = chromium.new_context(java_script_enabled=False)
    context.set_default_timeout(30_000)
    page = context.new_page()
    enter(page, site)
    open_task(page, MARKS.title, scripted=False)
    page.get_by_label("2 points").fill("0.25 0.5\n0.75 0.5")
    page.get_by_label("Every sun").fill("0.25 0.5 0.75 0.4")
    page.get_by_role("button", name="Send").click()
    page.get_by_text("'0.25 0.5 0.75 0.4' is not a box of the image").first.wait_for()
    page.get_by_label("Every sun").fill("0.25 0.4 0.75 0.5")
    page.get_by_role("button", name="Send").click()
    page.get_by_role("heading", name="Thank you").wait_for()
    (answer,) = site.backend.answers(MARKS)
    assert answer.values["boxes"] == ("0.25 0.4 0.75 0.5",)
    context.close()
