import pytest

from bench_assets.suites.multi.dataset.questions import (
    NOT_PUBLISHED,
    KnowledgeLink,
    link_knowledge,
    select_elite,
    select_usable,
    split_options,
    to_questions,
    with_knowledge,
)
from bench_assets.suites.multi.dataset.source import Knowledge
from tests.cases import read_cases
from tests.fakes.multi_rows import item, question
from tests.fakes.rows import stored

IMAGES = {name: stored(name, f"sha-{name}") for name in ("1.png", "2.png", "3.png")}


def convert(*items):
    return to_questions(items, IMAGES, "published")


def test_a_question_keeps_the_authors_id_and_what_tables_are_sliced_by():
    (example,) = convert(item(knowledge=("集合", "逻辑"))).rows
    assert example.question_id == "multi/gzsx_1_0"
    assert (example.kind, example.category, example.answer) == ("choice", "SA", ("B",))
    assert example.options == ("1", "2", "3", "4")
    assert example.labels == {
        "images": "NI",
        "level": "SeH",
        "subject": "数学",
        "difficulty": "3",
        "quality": "4",
        "knowledge": "集合",
    }


def test_images_come_in_the_order_of_the_text_and_are_numbered_anew():
    source_item = item(specific="乙图[IMAGE_3]与甲图[IMAGE_1]", images=("1.png", "2.png", "3.png"))
    (example,) = convert(source_item).rows
    assert example.images == ("sha-3.png", "sha-1.png")
    assert example.text == "乙图[IMAGE_1]与甲图[IMAGE_2]"
    assert example.labels["images"] == "MI"


@pytest.mark.parametrize(
    ("kind", "answer", "expected"),
    [
        pytest.param("MA", "BD", ("B", "D"), id="several letters"),
        pytest.param(
            "FB", "氢或H\n\n 氧", ("氢或H", "", " 氧"), id="one line a blank, byte for byte"
        ),
        pytest.param("Other", "", (NOT_PUBLISHED,), id="none needed"),
    ],
)
def test_answers_have_the_form_of_their_kind(kind, answer, expected):
    example, _ = convert(item(type=kind, answer=answer), item(item_id="x_0")).rows
    assert example.answer == expected


@pytest.mark.parametrize(
    ("education", "subject", "level"),
    [
        pytest.param("初中", "数学", "JuH", id="junior high"),
        pytest.param("社会", "驾考", "Driv", id="the driving test is a subject"),
        pytest.param("社会", "行测", "AAT", id="and so is the aptitude test"),
        pytest.param("社会", "其他", "", id="no column in Table 5"),
    ],
)
def test_levels_are_the_columns_of_table_5(education, subject, level):
    (example,) = convert(item(education=education, subject=subject)).rows
    assert example.labels["level"] == level


@pytest.mark.parametrize(
    ("fields", "reason"), read_cases(__file__, "rejected_items.jsonl", tuples=True)
)
def test_an_item_that_cannot_be_shown_or_scored_is_rejected_with_its_reason(fields, reason):
    table = convert(item(**({"item_id": "x_0"} | fields)), item(item_id="y_0"))
    assert [example.question_id for example in table.rows] == ["multi/y_0"]
    assert reason in table.rejections[0].reason


def test_a_release_without_any_answers_is_kept():
    (example,) = convert(item(answer="")).rows
    assert (example.category, example.kind, example.answer) == ("SA", "text", (NOT_PUBLISHED,))


@pytest.mark.parametrize(
    ("text", "stem", "options"), read_cases(__file__, "split_texts.jsonl", tuples=True)
)
def test_a_text_is_split_into_stem_and_options(text, stem, options):
    assert split_options(text) == (stem, options)


PIECES = {name: Knowledge(name=name, content="……") for name in ("函数", "二次函数", "x")}


@pytest.mark.parametrize(
    ("fields", "search", "knowledge", "how"),
    read_cases(__file__, "knowledge_links.jsonl", tuples=True),
)
def test_an_item_is_linked_to_its_piece_of_knowledge(fields, search, knowledge, how):
    (link,) = link_knowledge([item(**fields)], PIECES, search=search)
    assert (link.knowledge, link.how) == (knowledge, how)


def test_pieces_without_text_or_with_lost_images_are_rejected():
    pieces = [
        Knowledge(name="a", content="[IMAGE_1]", images=("1.png",)),
        Knowledge(name="b", content="[IMAGE_1]", images=("2.png",)),
        Knowledge(name="c", content=" "),
        Knowledge(name="d", content="[IMAGE_1][IMAGE_2]", images=("1.png",)),
        Knowledge(name="e", content="[IMAGE_0]", images=("1.png",)),
    ]
    checked = select_usable(pieces, {"1.png"})
    assert [piece.name for piece in checked.rows] == ["a"]
    assert [(rejection.entry, rejection.reason) for rejection in checked.rejections] == [
        ("knowledge b", "images are missing: 2.png"),
        ("knowledge c", "the text is empty"),
        ("knowledge d", "it refers to image 2 of 1"),
        ("knowledge e", "it refers to image 0 of 1"),
    ]


def test_images_of_a_knowledge_piece_are_numbered_after_those_of_its_question():
    piece = Knowledge(name="集合", content="甲[IMAGE_1]乙[IMAGE_2]", images=("1.png", "2.png"))
    link = KnowledgeLink(item_id="gzsx_1_0", knowledge="集合", how="attached")
    example = question(images=("p",), text="看[IMAGE_1]")
    (informed,) = with_knowledge([example], [link], {"集合": piece}, IMAGES)
    assert informed.context == "甲[IMAGE_2]乙[IMAGE_3]"
    assert informed.images == ("p", "sha-1.png", "sha-2.png")


def test_a_question_without_a_knowledge_piece_stays_as_it_is():
    link = KnowledgeLink(item_id="gzsx_1_0", knowledge="", how="uncovered")
    assert with_knowledge([question()], [link], {}, IMAGES) == [question()]


@pytest.mark.parametrize(
    ("hard_list", "edition"),
    [
        pytest.param(["a_0"], "published", id="the whole list"),
        pytest.param(["a_0", "z_0"], "own", id="one of the list is missing"),
    ],
)
def test_elite_is_published_if_all_of_the_list_is_there(hard_list, edition):
    questions = [question(question_id=f"multi/{name}_0", edition="published") for name in "ab"]
    (elite,) = select_elite(questions, hard_list)
    assert (elite.question_id, elite.edition) == ("multi/a_0", edition)
