"""From a form on the annotation pages to BLINK's question table, over HTTP."""

from collections.abc import Iterator
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from tests.fakes.marked_home import NEAR, SCALE, built_questions, drawn_pixels, write_home
from tests.resources.annotation.web.on_pages import Site, Visitor

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_home(tmp_path_factory.mktemp("marked"))


@pytest.fixture(scope="module")
def site(home: Path) -> Iterator[Site]:
    with Site(home) as one:
        yield one


def mark(visitor: Visitor, title: str, field: str, marks: str) -> str:
    page = visitor.next(visitor.task(title))
    return unescape(visitor.send(page, **{field: marks}).text)


def test_marks_outside_of_the_image_or_too_few_are_sent_back(site: Site) -> None:
    ana = site.visitor("ana")
    assert "1 entries (expected 2 to 2)" in mark(ana, "Which is closer?", "points", "0.25 0.5")
    outside = mark(ana, "Which is closer?", "points", "0.25 0.5\n1.2 0.1")
    assert "'1.2 0.1' is not a point of the image" in outside
    upside_down = mark(ana, "Where is the object?", "boxes", "0.25 0.75 0.75 0.25")
    assert "'0.25 0.75 0.75 0.25' is not a box of the image" in upside_down


def test_marks_become_questions_whose_prompts_lie_where_they_were_put(
    site: Site, home: Path
) -> None:
    """Of 640 x 480 px: points at (160, 240) and (480, 48), a box from (160, 120) to (480, 360)."""
    ana = site.visitor("ana")
    assert "Thank you" in mark(ana, "Which is closer?", "points", "0.25 0.5\r\n0.75 0.1")
    assert "Thank you" in mark(ana, "Where is the object?", "boxes", "0.25 0.25 0.75 0.75")
    questions = built_questions(home)
    assert sorted(questions) == ["Object_Localization", "Relative_Depth"]
    depth, located = questions["Relative_Depth"], questions["Object_Localization"]
    assert depth.options == ("A is closer", "B is closer")
    assert "paper cup" in located.text
    circles = drawn_pixels(home, depth)
    for point in ((160, 240), (480, 48)):
        distances = np.hypot(*(circles - point).T)
        circle = distances[distances < 10 / SCALE + NEAR]
        assert len(circle) > 50  # a circle of 10 px, 1024 px high
        assert abs(circle.mean() - 8.5 / SCALE) < NEAR / 2
    boxes = drawn_pixels(home, located)
    for side in ((160, 240), (480, 240), (320, 120), (320, 360)):
        assert np.hypot(*(boxes - side).T).min() < NEAR
