import pytest

from bench_assets.suites.multi.dataset.questions import link_knowledge, select_usable
from bench_assets.suites.multi.dataset.source import Knowledge
from tests.suites.multi.rows import item

PIECES = {name: Knowledge(name=name, content="……") for name in ("函数", "二次函数", "x")}


@pytest.mark.parametrize(
    ("fields", "search", "expected"),
    [
        pytest.param({"knowledge": ("函数", "集合")}, True, ("函数", "attached"), id="the first"),
        pytest.param(
            {"general": "二次函数的图象"}, True, ("二次函数", "named in the text"), id="the longest"
        ),
        pytest.param(
            {"analysis": "由函数可知"}, True, ("函数", "named in the text"), id="in the analysis"
        ),
        pytest.param({"knowledge": ("集合",)}, True, ("", "uncovered"), id="attached but lost"),
        pytest.param(
            {"general": "x"}, True, ("", "uncovered"), id="a name too short to search for"
        ),
        pytest.param(
            {"general": "函数"}, False, ("", "uncovered"), id="the release is not searched"
        ),
    ],
)
def test_a_piece_comes_to_its_question(fields, search, expected):
    (found,) = link_knowledge([item(**fields)], PIECES, search=search)
    assert (found.knowledge, found.how) == expected


def test_pieces_without_text_or_with_lost_images_are_rejected():
    pieces = {
        "a": Knowledge(name="a", content="[IMAGE_1]", images=("1.png",)),
        "b": Knowledge(name="b", content="[IMAGE_1]", images=("2.png",)),
        "c": Knowledge(name="c", content=" "),
    }
    checked = select_usable(pieces, {"1.png"})
    assert list(checked.usable) == ["a"]
    assert [(one.entry, one.reason) for one in checked.rejections] == [
        ("knowledge b", "images are missing: 2.png"),
        ("knowledge c", "the text is empty"),
    ]
