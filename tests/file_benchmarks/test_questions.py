"""Rows become questions, or rejections with their line."""

import json
from hashlib import sha256

import pytest

from bench_assets.core.schema.errors import SettingsError, SourceError
from bench_assets.core.schema.rows import StoredImage
from bench_assets.file_benchmarks.questions import build, image_files, place_of, shuffled
from resources.config.bench_toml import Settings
from resources.config.sections.benchmarks import FileBenchmarkSettings
from tests.rows import question

ROW = {"id": "7", "question": "Which colour?", "options": ["red", "blue"], "answer": "B"}


def stored(image, name):
    data = image if isinstance(image, bytes) else image.read_bytes()
    digest = sha256(data).hexdigest()
    return StoredImage(name=name, sha256=digest, format="PNG", width=1, height=1, n_bytes=1)


def built(folder, rows, **settings):
    """What becomes of rows in a file ``fridge.jsonl``."""
    file = folder / "fridge.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows))
    benchmark = FileBenchmarkSettings(file=file, **settings)
    place = place_of("fridge", file, Settings(home=folder, benchmarks={"fridge": benchmark}))
    return build(benchmark, place, stored)


def test_a_row_becomes_a_question_with_its_other_columns_as_labels(tmp_path):
    (tmp_path / "a.png").write_bytes(b"a")
    row = ROW | {"image": "a.png", "category": "colour", "group": "g", "context": "A cup."}
    found = built(tmp_path, [row | {"level": 3, "hard": True, "boxes": [1, 2], "by": None}])
    assert found.questions == [
        question(
            question_id="fridge/7",
            task="fridge",
            edition="own",
            kind="choice",
            text="Which colour?",
            options=("red", "blue"),
            answer=("B",),
            images=(sha256(b"a").hexdigest(),),
            context="A cup.",
            category="colour",
            group_id="g",
            labels={"level": "3", "hard": "yes"},
        )
    ]
    assert [one.name for one in found.images] == ["a.png"]


@pytest.mark.parametrize(
    ("row", "columns"),
    [
        pytest.param({"A": "red", "B": "blue"}, {}, id="a column each, named by letter"),
        pytest.param({"A": "red", "B": "blue", "C": None}, {}, id="the last of them empty"),
        pytest.param({"choices": ["red", "blue"]}, {}, id="choices"),
        pytest.param({"o": ["red", "blue"]}, {"options": "o"}, id="a column of another name"),
        pytest.param(
            {"x": "red", "y": "blue"}, {"options": ["x", "y"]}, id="columns that are named"
        ),
    ],
)
def test_options_are_found(tmp_path, row, columns):
    rest = {name: cell for name, cell in ROW.items() if name != "options"}
    (one,) = built(tmp_path, [rest | row], columns=columns).questions
    assert one.options == ("red", "blue")
    assert one.labels == {}


@pytest.mark.parametrize(
    "row",
    [
        pytest.param({"A": None, "B": "blue"}, id="the first empty"),
        pytest.param({"A": "red", "B": None}, id="one left"),
        pytest.param({"A": "red", "B": None, "C": "blue"}, id="one between others empty"),
        pytest.param({"A": "red", "B": "blue", "D": "green"}, id="one between others missing"),
        pytest.param({"A": "", "B": "red", "C": "blue"}, id="an empty text"),
    ],
)
def test_an_empty_option_is_a_rejection_and_makes_no_question_without_options(tmp_path, row):
    rest = {name: cell for name, cell in ROW.items() if name != "options"} | {"answer": "A"}
    found = built(tmp_path, [rest | row, ROW])
    assert [one.question_id for one in found.questions] == ["fridge/7"]
    assert "are not two or more different ones" in found.rejections[0].reason


@pytest.mark.parametrize(
    ("cells", "columns"),
    [
        pytest.param({"images": ["a.png", "b.png"]}, {}, id="a list"),
        pytest.param({"image_10": "b.png", "image_2": "a.png"}, {}, id="numbered columns"),
        pytest.param({"p": "a.png", "q": "b.png"}, {"images": ["p", "q"]}, id="columns named"),
        pytest.param({"image": None, "image_1": "a.png", "image_2": "b.png"}, {}, id="one empty"),
    ],
)
def test_images_are_found_in_their_order(tmp_path, cells, columns):
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_text(name)
    (one,) = built(tmp_path, [ROW | cells], columns=columns).questions
    assert one.images == tuple(sha256(n.encode()).hexdigest() for n in ("a.png", "b.png"))
    assert one.labels == {}


def test_a_row_that_cannot_be_used_is_a_rejection_and_the_rest_is_asked(tmp_path):
    rows = [
        ROW | {"question": " "},
        ROW | {"answer": "purple"},
        ROW | {"image": "gone.png"},
        ROW | {"id": None},
        ROW | {"question": {"en": "?"}},
        ROW,
    ]
    found = built(tmp_path, rows)
    assert [one.question_id for one in found.questions] == ["fridge/7"]
    assert [one.entry for one in found.rejections] == [
        f"{tmp_path}/fridge.jsonl, line {n}" for n in range(1, 6)
    ]
    assert [one.reason for one in found.rejections] == [
        "no question",
        "answer 'purple' is none of the options ['red', 'blue']",
        f"no image 'gone.png' in {tmp_path}",
        "no id (expected one, since the file has a column for it)",
        "question: {'en': '?'} is not a text or a number",
    ]


def test_without_an_id_a_question_is_named_by_what_is_asked(tmp_path):
    """Neither its place nor a corrected answer nor a further column makes it another question."""
    row = {name: cell for name, cell in ROW.items() if name != "id"}
    other = row | {"question": "Which shape?"}
    first = built(tmp_path, [row, other]).questions
    again = built(tmp_path, [other, row | {"answer": "A", "level": 1}]).questions
    assert [one.question_id for one in first] == [one.question_id for one in reversed(again)]
    assert len({one.question_id for one in first}) == 2
    (same_id,) = built(tmp_path, [ROW, ROW | {"question": "Which?"}]).rejections
    assert same_id.reason == f"the same id fridge/7 as {tmp_path}/fridge.jsonl, line 1"
    twins = built(tmp_path, [row, row])
    assert len(twins.questions) == 1
    assert twins.rejections[0].reason == f"the same question as {tmp_path}/fridge.jsonl, line 1"


@pytest.mark.parametrize(
    ("rows", "settings", "error", "why"),
    [
        pytest.param(
            [ROW | {"answer": "D"}],
            {},
            SourceError,
            r"fridge.jsonl: no usable row: .*line 1: answer 'D' is none",
            id="no row that can be used",
        ),
        pytest.param([], {}, SourceError, "no usable row: the file is empty", id="an empty file"),
        pytest.param(
            [ROW],
            {"columns": {"question": "q"}},
            SettingsError,
            r"bench.toml, \[benchmarks.fridge\], columns, question: no column 'q'; there are: id",
            id="a column that is not there",
        ),
        pytest.param(
            [ROW],
            {"slices": ["level"]},
            SettingsError,
            r"\[benchmarks.fridge\], slices: no column 'level'",
            id="a slice that is not there",
        ),
        pytest.param(
            [ROW],
            {"prompt": "{question} {level}"},
            SettingsError,
            r"\[benchmarks.fridge\], prompt: no column 'level'",
            id="a prompt of a column that is not there",
        ),
        pytest.param(
            [{"q": "?", "answer": "yes"}],
            {"prompt": "{q}", "columns": {"question": "q"}},
            SettingsError,
            r"prompt: no column 'q'; there are: .*question",
            id="a prompt of a column under the file's name for it",
        ),
        pytest.param(
            [ROW],
            {"metric": "group_accuracy"},
            SettingsError,
            r"\[benchmarks.fridge\], metric: group_accuracy needs a column group",
            id="groups that are not there",
        ),
        pytest.param(
            [ROW | {"answer": 2}],
            {},
            SettingsError,
            r"\[benchmarks.fridge\]: .*line 1: answer '2' of 2 options",
            id="answers that may count from 1",
        ),
    ],
)
def test_what_concerns_the_whole_file_is_an_error_that_names_file_and_entry(
    tmp_path, rows, settings, error, why
):
    with pytest.raises(error, match=why):
        built(tmp_path, rows, **settings)


def test_images_are_found_in_a_folder_of_their_own_and_listed(tmp_path):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(b"a")
    rows = [ROW | {"image": "a.png"}, ROW | {"id": "8", "image": "gone.png"}]
    file = tmp_path / "fridge.jsonl"
    assert len(built(tmp_path, rows, image_folder="images").questions) == 1
    benchmark = FileBenchmarkSettings(file=file, image_folder="images")
    place = place_of("fridge", file, Settings(home=tmp_path, benchmarks={"fridge": benchmark}))
    assert image_files(benchmark, place) == [str((tmp_path / "images" / "a.png").resolve())]


def test_shuffled_options_keep_the_right_one_and_are_the_same_each_time():
    asked = [
        question(
            question_id=f"fridge/{n}", kind=kind, options=("r", "g", "b", "w"), answer=tuple(gold)
        )
        for n, (kind, gold) in enumerate([("choice", "A"), ("choices", "AD")] * 20)
    ]
    drawn = shuffled(asked, seed=1)
    assert drawn == shuffled(list(reversed(asked)), seed=1)[::-1]
    assert len({one.options for one in drawn}) > 10
    for before, after in zip(asked, drawn, strict=True):
        right = {before.options["ABCD".index(letter)] for letter in before.answer}
        assert {after.options["ABCD".index(letter)] for letter in after.answer} == right
        assert after.question_id == before.question_id


@pytest.mark.parametrize(
    ("options", "n"),
    [
        pytest.param((), 0, id="none: a text is asked for"),
        pytest.param(("red", "none of the above"), 0, id="one that speaks of those above"),
        pytest.param(("red", "blue", "A and B"), 0, id="one that names the others"),
        pytest.param(("above the table", "below it"), 1, id="places in the image"),
    ],
)
def test_options_that_speak_of_each_other_are_not_shuffled(options, n):
    kind = "choice" if options else "text"
    assert len(shuffled([question(kind=kind, options=options, answer=("A",))], seed=0)) == n
