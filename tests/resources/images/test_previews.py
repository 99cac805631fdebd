"""What the UI shows of questions, responses and mistakes: small, escaped, with images."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from bench_assets.core.schema.rows import Judgement, Score
from bench_assets.core.text.escaping import unescape_markdown
from bench_resources.images.previews import (
    mistakes_preview,
    question_preview,
    responses_preview,
    verdicts_preview,
)
from bench_resources.images.store import ImageStore
from tests.fakes.rows import prediction, question
from tests.resources.images.test_store import image

HOSTILE = "<script>x</script> ![p](http://example.org/p.png) [l](javascript:y) a|b `c`\n# d"


def test_a_hostile_question_is_a_line_of_texts_with_an_image_of_data(tmp_path: Path) -> None:
    image_store = ImageStore(folder=str(tmp_path))
    hostile = question(
        question_id=f"t/{HOSTILE}",
        kind="choice",
        images=(image_store.put(image("PNG"), "p").sha256,),
        context=HOSTILE,
        text=HOSTILE,
        options=("x", HOSTILE),
        answer=(HOSTILE,),
    )
    written = str(question_preview([hostile], image_store)["questions"].value)
    for raw in ("<script", "javascript:", "](http", "http://example.org"):
        assert raw not in written
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    cells = [token for token in reader.parse(written) if token.type == "inline"][6:]
    assert len(cells) == 6
    kinds = {inner.type for cell in cells for inner in cell.children or []}
    assert kinds == {"text", "image"}
    assert re.findall(r"!\[image\]\(([^,]+),", written) == ["data:image/jpeg;base64"]
    cell_text = "".join(inner.content for inner in cells[3].children or []).replace("\u2060", "")
    assert cell_text == HOSTILE.replace("\n", " ")


@pytest.fixture
def images(tmp_path: Path) -> ImageStore:
    return ImageStore(folder=str(tmp_path))


def lines(shown, name: str) -> list[list[str]]:
    """The cells of each line of a page, as a person reads them."""
    return [
        [unescape_markdown(cell.strip()) for cell in line.strip("|").split(" | ")]
        for line in str(shown[name].value).split("\n")[2:]
    ]


CHOICE = question(kind="choice", options=("left", "right"), answer=("B",), text="Where?")
RESPONSE = prediction(text="Left, I think.")


def scored(points: float | None, **fields) -> Score:
    return Score.of(RESPONSE, points=points, **fields)


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        pytest.param({"text": "", "error": "timeout"}, "timeout", id="no response: the error"),
        pytest.param({"text": "Hm", "no_answer": "cut off"}, "cut off", id="no answer: why"),
        pytest.param({"text": "", "ranking": ("x", "y")}, "x, y", id="a ranking: its candidates"),
    ],
)
def test_without_a_text_the_cell_shows_what_there_is(images, fields, shown) -> None:
    (line,) = lines(responses_preview([CHOICE], [replace(RESPONSE, **fields)], images), "responses")
    assert line[-1] == shown


def test_a_mistake_shows_how_it_was_read_its_verdict_and_the_reason(images) -> None:
    verdict = Judgement.of(
        RESPONSE, judge="j", criterion="right", verdict=False, response="No: left."
    )
    score = scored(0.0, answer=("A",), note="option by its text")
    (line,) = lines(mistakes_preview([CHOICE], [RESPONSE], [verdict], [score], images), "mistakes")
    assert line[5:] == ["Left, I think.", "A", "right: no", "0 of 1", "option by its text"]
    (line,) = lines(verdicts_preview([CHOICE], [RESPONSE], [verdict], images), "verdicts")
    assert line[5:] == ["Left, I think.", "right: no", "No: left."]


@pytest.mark.parametrize(
    ("score", "is_shown"),
    [
        pytest.param(scored(0.0), True, id="wrong"),
        pytest.param(scored(0.5), True, id="half right"),
        pytest.param(scored(1.0), False, id="right"),
        pytest.param(scored(None), False, id="unscored is no mistake"),
        pytest.param(replace(scored(0.0), question_id="t/2"), False, id="of no question"),
    ],
)
def test_mistakes_are_responses_without_all_their_points(images, score, is_shown) -> None:
    assert bool(mistakes_preview([CHOICE], [RESPONSE], [], [score], images)) == is_shown


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("<" * 1_000_000, id="a megabyte of marks"),
        pytest.param("مرحبا " * 100_000, id="from right to left"),
    ],
)
def test_a_page_stays_small_whatever_the_responses(images, text) -> None:
    digests = tuple(images.put(image("PNG", 120 + n, 120), "p").sha256 for n in range(12))
    questions = [
        question(question_id=f"{n}/{text}", text=text, answer=(text,), images=digests)
        for n in range(20)
    ]
    responses = [prediction(question_id=row.question_id, text=text) for row in questions]
    judged = [
        Judgement.of(row, judge=text, criterion=text, verdict=None, response=text)
        for row in responses
    ]
    wrong = [Score.of(row, points=0.0, answer=(text,), note=text) for row in responses]
    pages = [
        question_preview(questions, images),
        responses_preview(questions, responses, images),
        verdicts_preview(questions, responses, judged, images),
        mistakes_preview(questions, responses, judged, wrong, images, n=14),
    ]
    for page in pages:
        assert sum(len(str(value.value)) for value in page.values()) < 200_000


def test_what_strangers_wrote_is_text_in_every_cell(images) -> None:
    choice = replace(CHOICE, text=HOSTILE, options=("x", HOSTILE), answer=(HOSTILE,))
    response = replace(RESPONSE, text=HOSTILE)
    verdict = Judgement.of(response, judge="j", criterion=HOSTILE, verdict=True, response=HOSTILE)
    score = Score.of(response, points=0.0, answer=(HOSTILE,), note=HOSTILE)
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    for page, columns in (
        (responses_preview([choice], [response], images), 6),
        (verdicts_preview([choice], [response], [verdict], images), 8),
        (mistakes_preview([choice], [response], [verdict], [score], images), 10),
    ):
        (shown,) = page.values()
        tokens = reader.parse(str(shown.value))
        cells = [token for token in tokens if token.type == "inline"]
        assert len(cells) == 2 * columns
        assert {inner.type for cell in cells for inner in cell.children or []} == {"text"}
