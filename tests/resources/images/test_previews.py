import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from bench_resources.images.previews import question_preview
from bench_resources.images.store import ImageStore
from tests.fakes.rows import question
from tests.resources.images.test_store import image

HOSTILE = (
    "<script>x</script> ![p](http://example.org/p.png) [l](javascript:y) <javascript:y>"
    " ![s](data:image/svg+xml;base64,PHN2Zz4=) a|b a \\| b `c`\n# d"
)


def test_a_hostile_question_is_a_row_of_texts_with_a_data_url(tmp_path: Path) -> None:
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
    markdown = str(question_preview([hostile], image_store)["questions"].value)
    for markup in ("<script", "javascript:", "](http", "http://example.org"):
        assert markup not in markdown
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    inline = [token for token in reader.parse(markdown) if token.type == "inline"]
    header, cells = inline[:6], inline[6:]
    assert len(header) == len(cells)
    token_types = {inner.type for cell in cells for inner in cell.children or []}
    assert token_types == {"text", "image"}
    assert re.findall(r"!\[image\]\(([^,]+),", markdown) == ["data:image/jpeg;base64"]
    cell_text = "".join(inner.content for inner in cells[3].children or []).replace("\u2060", "")
    assert cell_text == HOSTILE.replace("\n", " ")


@pytest.fixture
def images(tmp_path: Path) -> ImageStore:
    return ImageStore(folder=str(tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("<" * 1_000_000, id="a megabyte of marks"),
        pytest.param("مرحبا " * 100_000, id="from right to left"),
    ],
)
def test_a_preview_of_large_questions_stays_small(images, text) -> None:
    digests = tuple(images.put(image("PNG", 120 + n, 120), "p").sha256 for n in range(12))
    questions = [
        question(question_id=f"{n}/{text}", text=text, answer=(text,), images=digests)
        for n in range(20)
    ]
    page = question_preview(questions, images)
    n_characters = sum(len(str(value.value)) for value in page.values())
    assert n_characters < 200_000  # each text alone has 600,000 or more
