"""What the UI shows of questions: texts as texts, images as data."""

import re
from pathlib import Path

from markdown_it import MarkdownIt

from bench_resources.images.previews import question_preview
from bench_resources.images.store import ImageStore
from tests.fakes.rows import question
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
