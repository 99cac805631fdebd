"""Rows become questions, or rejections with their line."""

import json
from hashlib import sha256

import pytest

from bench_assets.core.schema.chat import Image
from bench_assets.core.schema.errors import SettingsError, SourceError
from bench_assets.core.schema.rows import StoredImage
from bench_assets.file_benchmarks import prompts
from bench_assets.file_benchmarks.questions import (
    benchmark_location,
    build,
    image_files,
    shuffle_all_options,
)
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from tests.cases import read_cases
from tests.fakes.rows import question

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
    place = benchmark_location(
        "fridge", file, Settings(home=folder, benchmarks={"fridge": benchmark})
    )
    return build(benchmark, place, stored)


def test_a_row_becomes_a_question_with_its_other_columns_as_labels(tmp_path):
    (tmp_path / "a.png").write_bytes(b"a")
    row = ROW | {"image": "a.png", "category": "colour", "group": "g", "context": "A cup."}
    benchmark = built(tmp_path, [row | {"level": 3, "hard": True, "boxes": [1, 2], "by": None}])
    assert benchmark.questions == [
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
    assert [image.name for image in benchmark.images] == ["a.png"]


@pytest.mark.parametrize(
    ("row", "columns", "options", "letter"), read_cases(__file__, "options.jsonl")
)
def test_options_are_found_and_say_which_is_right(tmp_path, row, columns, options, letter):
    row = {"id": "7", "question": "Which colour?"} | row
    (question,) = built(tmp_path, [row], columns=columns).questions
    assert (list(question.options), question.answer) == (options, (letter,))
    assert question.labels == {}


@pytest.mark.parametrize(
    "row",
    [
        pytest.param({"A": None, "B": "blue"}, id="the first empty"),
        pytest.param({"A": "red", "B": None}, id="one left"),
        pytest.param({"A": "red", "B": "nan", "C": ""}, id="one left beside nan"),
        pytest.param({"A": "", "B": "red", "C": "blue"}, id="an empty text is the answer"),
    ],
)
def test_an_empty_answer_or_a_single_option_is_a_rejection(tmp_path, row):
    rest = {name: cell for name, cell in ROW.items() if name != "options"} | {"answer": "A"}
    benchmark = built(tmp_path, [rest | row, ROW])
    assert [question.question_id for question in benchmark.questions] == ["fridge/7"]
    assert "(expected at least 2" in benchmark.rejections[0].reason


def test_an_option_that_is_the_answer_of_another_row_is_kept(tmp_path):
    rows = [
        ROW | {"id": str(n), "options": ["red", "blue", "N/A"], "answer": answer}
        for n, answer in enumerate(["red", "N/A"])
    ]
    assert {len(question.options) for question in built(tmp_path, rows).questions} == {3}


def test_letters_without_their_options_are_no_texts(tmp_path):
    """A key ["D"] of a question that was to hold its options is a rejection, with the setting."""
    rows = [
        {"id": str(n), "question": question, "answer": answer}
        for n, (question, answer) in enumerate(
            [
                ("Which?\nA. red\nB. blue", ["B"]),
                ("Which?", ["BC"]),
                ("Which?", "D"),
                ("Who?", "Ada"),
            ]
        )
    ]
    inside = built(tmp_path, rows, columns={"options": "question"})
    assert [(row.kind, row.answer) for row in inside.questions] == [
        ("choices", ("B",)),
        ("text", ("Ada",)),
    ]
    assert all("drawn_options" in rejection.reason for rejection in inside.rejections)
    (rejection,) = built(tmp_path, rows).rejections
    assert "set columns, options to the question's column" in rejection.reason


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
    (question,) = built(tmp_path, [ROW | cells], columns=columns).questions
    assert question.images == tuple(sha256(n.encode()).hexdigest() for n in ("a.png", "b.png"))
    assert question.labels == {}


def test_a_row_that_cannot_be_used_is_a_rejection_and_the_rest_is_kept(tmp_path):
    rows = [
        ROW | {"question": " "},
        ROW | {"answer": "purple"},
        ROW | {"image": "gone.png"},
        ROW | {"id": None},
        ROW | {"question": {"en": "?"}},
        ROW,
    ]
    benchmark = built(tmp_path, rows, images="optional")
    assert [question.question_id for question in benchmark.questions] == ["fridge/7"]
    assert [rejection.entry for rejection in benchmark.rejections] == [
        f"{tmp_path}/fridge.jsonl, line {n}" for n in range(1, 6)
    ]
    assert [rejection.reason for rejection in benchmark.rejections] == [
        "no question",
        "answer 'purple' is none of the options ['red', 'blue']",
        f"no image 'gone.png' in {tmp_path}",
        "no id (expected one, since the file has a column for it)",
        "question: {'en': '?'} is not a text or a number",
    ]


@pytest.mark.parametrize("image", [None, "", [], [None], float("nan"), ["a.png", None]])
def test_a_row_without_its_image_beside_rows_that_have_one_is_rejected(tmp_path, image):
    (tmp_path / "a.png").write_bytes(b"a")
    rows = [ROW | {"image": image}, ROW | {"id": "8", "image": "a.png"}, ROW | {"id": "9"}]
    benchmark = built(tmp_path, rows)
    assert [question.question_id for question in benchmark.questions] == ["fridge/8"]
    assert all('set images = "optional"' in rejection.reason for rejection in benchmark.rejections)
    assert len(built(tmp_path, rows, images="optional").questions) == 3
    assert len(built(tmp_path, rows[2:]).questions) == 1


def test_without_an_id_a_question_is_named_by_its_content(tmp_path):
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
    ("rows", "settings", "problem"), read_cases(__file__, "unusable_files.jsonl")
)
def test_what_concerns_the_whole_file_is_an_error_that_names_file_and_entry(
    tmp_path, rows, settings, problem
):
    with pytest.raises((SettingsError, SourceError), match=problem):
        built(tmp_path, rows, **settings)


def test_images_are_found_in_a_folder_of_their_own_and_listed(tmp_path):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(b"a")
    rows = [ROW | {"image": "a.png"}, ROW | {"id": "8", "image": "gone.png"}]
    file = tmp_path / "fridge.jsonl"
    assert len(built(tmp_path, rows, image_folder="images").questions) == 1
    benchmark = FileBenchmarkSettings(file=file, image_folder="images")
    place = benchmark_location(
        "fridge", file, Settings(home=tmp_path, benchmarks={"fridge": benchmark})
    )
    assert image_files(benchmark, place) == [str((tmp_path / "images" / "a.png").resolve())]


def test_shuffled_options_keep_the_right_one_and_are_the_same_each_time():
    questions = [
        question(
            question_id=f"fridge/{n}", kind=kind, options=("r", "g", "b", "w"), answer=tuple(gold)
        )
        for n, (kind, gold) in enumerate([("choice", "A"), ("choices", "AD")] * 20)
    ]
    drawn = shuffle_all_options(questions, seed=1)
    assert drawn == shuffle_all_options(list(reversed(questions)), seed=1)[::-1]
    assert len({one.options for one in drawn}) > 10
    for before, after in zip(questions, drawn, strict=True):
        right = {before.options["ABCD".index(letter)] for letter in before.answer}
        assert {after.options["ABCD".index(letter)] for letter in after.answer} == right
        assert after.question_id == before.question_id


@pytest.mark.parametrize(
    ("options", "n"),
    [
        pytest.param((), 0, id="none: a text is asked for"),
        pytest.param(("red", "none of the above"), 0, id="one that speaks of those above"),
        pytest.param(("red", "blue", "A and B"), 0, id="one that names the others"),
        pytest.param(("Point A", "Point B"), 0, id="letters in the image"),
        pytest.param(("above the table", "below it"), 1, id="places in the image"),
    ],
)
def test_options_that_speak_of_each_other_are_not_shuffled(options, n):
    kind = "choice" if options else "text"
    assert (
        len(shuffle_all_options([question(kind=kind, options=options, answer=("A",))], seed=0)) == n
    )


IMAGES = {name: name.encode() for name in ("a.png", "b.png", "c.png")}


def digests(names):
    return tuple(sha256(IMAGES[name]).hexdigest() for name in names)


@pytest.fixture
def with_images(tmp_path):
    for name, data in IMAGES.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def test_options_that_are_images_are_numbered_as_in_muirbench(with_images):
    row = ROW | {"options": ["<image>", "<image>"], "question": "Like <image>?"}
    row |= {"image_list": ["a.png", "b.png", "c.png"]}
    (question,) = built(with_images, [row], columns={"images": "image_list"}).questions
    assert (question.text, question.options) == ("Like <image 1>?", ("<image 2>", "<image 3>"))
    assert question.images == digests(["a.png", "b.png", "c.png"])
    few = [row | {"image_list": ["a.png"]}, ROW]
    short = built(with_images, few, columns={"images": "image_list"}, images="optional")
    assert short.rejections[0].reason == (
        '<image 2>: no such image (the question has 1); image_marks = "text" keeps it as text'
    )


def test_an_image_cell_may_be_the_index_of_another_row(with_images):
    """VLMEvalKit's files hold an image once; a reference may stand before the row it names."""
    rows = [
        {"index": n, "question": f"{n}?", "answer": "x", "image": image}
        for n, image in [(1, "2"), (2, "a.png"), (3, "2"), (4, "9")]
    ]
    benchmark = built(with_images, rows)
    assert [question.question_id for question in benchmark.questions] == [
        "fridge/1",
        "fridge/2",
        "fridge/3",
    ]
    assert {question.images for question in benchmark.questions} == {digests(["a.png"])}
    assert [image.name for image in benchmark.images] == ["a.png"]
    assert (
        benchmark.rejections[0].reason == f"no image '9' in {with_images}, and no row with that id"
    )


def test_images_are_named_by_a_template(with_images):
    rows = [{"Index": "a", "question": "?", "answer": "x"}]
    (question,) = built(with_images, rows, columns={"images": "{Index}.png"}).questions
    assert question.images == digests(["a.png"])
    assert question.labels == {"Index": "a"}


def test_options_are_read_out_of_the_question_where_the_settings_say_so(tmp_path):
    row = {"question": "Open? (a) Yes (b) No", "answer": "(b)"}
    (question,) = built(tmp_path, [row], columns={"options": "question"}).questions
    assert (question.text, question.options, question.answer) == ("Open?", ("Yes", "No"), ("B",))
    with pytest.raises(
        SettingsError, match=r"line 1: the answer is .*, and the question holds opt"
    ):
        built(tmp_path, [row])


@pytest.mark.parametrize(
    ("cells", "columns"),
    [
        pytest.param({"turns": ["Hi.", "Why?"]}, {}, id="a list"),
        pytest.param({"turns": '["Hi.", "Why?"]'}, {}, id="a list as text"),
        pytest.param({"a": "Hi.", "b": "Why?", "c": ""}, {"turns": ["a", "b", "c"]}, id="columns"),
    ],
)
def test_turns_follow_one_after_the_other(tmp_path, cells, columns):
    (question,) = built(tmp_path, [{"answer": "x"} | cells], columns=columns).questions
    prompt = prompts.main(question, prompts.PromptSettings("{question}!", system="Be brief."))
    assert [(turn.role, *turn.parts) for turn in prompt.turns] == [
        ("system", "Be brief."),
        ("user", "Hi."),
        ("user", "Why?!"),
    ]
    assert len(prompt.rounds()) == 2


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        pytest.param({"turns": ["a", "", "b"]}, "turn 2 is empty", id="an empty turn"),
        pytest.param({"turns": ["a"], "question": "b"}, "a question and turns", id="both"),
        pytest.param({"turns": "a"}, "not a list of texts", id="no list"),
        pytest.param({"turns": [{"role": "user"}]}, "is not a text", id="messages"),
        pytest.param({"question": "<image>?"}, "<image 1>: no such image", id="a mark"),
    ],
)
def test_turns_and_marks_that_cannot_be_shown_are_rejections(tmp_path, cells, why):
    benchmark = built(tmp_path, [{"answer": "x"} | cells, {"answer": "x", "question": "Y?"}])
    assert why in benchmark.rejections[0].reason


@pytest.mark.parametrize(
    ("cells", "settings", "why"),
    [
        pytest.param({"video": "abc"}, {}, "column 'video' looks like video", id="video"),
        pytest.param(
            {"photo": "a.png"}, {}, r"column 'photo' looks like images \('a.png'\)", id="a"
        ),
        pytest.param({}, {"ignore": ["photo"]}, "ignore: no column 'photo'", id="ignored"),
        pytest.param(
            {"level": {"a": 1}}, {"slices": ["level"]}, "no usable row: .*to slice by", id="object"
        ),
    ],
)
def test_columns_that_are_neither_shown_nor_labels_are_refused(tmp_path, cells, settings, why):
    with pytest.raises((SettingsError, SourceError), match=why):
        built(tmp_path, [ROW | cells], **settings)


def shots(folder, rows, **settings):
    (folder / "dev.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return built(folder, [ROW | {"image": "a.png"}], shots_file="dev.jsonl", **settings)


def test_solved_examples_stand_before_each_question(with_images):
    rows = [
        ROW | {"question": "1?", "answer": "purple"},
        ROW | {"question": "2?", "image": "b.png"},
        {"id": 3, "turns": ["3", "?"], "options": ["red", "blue"], "answer": ["A", "B"]},
        ROW | {"question": "4?"},
    ]
    benchmark = shots(with_images, rows, shots=2, prompt="{question}", images="optional")
    settings = prompts.PromptSettings("{question}", shots=True)
    prompt = prompts.main(benchmark.questions[0], settings)
    b, a = map(Image, digests(["b.png", "a.png"]))
    assert [(turn.role, turn.parts) for turn in prompt.turns] == [
        ("user", (b, "2?")),
        ("assistant", ("B",)),
        ("user", ("3", "\n\n", "?")),
        ("assistant", ("A, B",)),
        ("user", (a, "Which colour?")),
    ]
    assert [image.name for image in benchmark.images] == ["a.png", "b.png"]
    assert len(prompt.rounds()) == 1


@pytest.mark.parametrize(
    ("rows", "settings", "why"),
    [
        pytest.param([ROW], {"shots": 2}, "shots: expected 2 usable rows, got 1", id="too few"),
        pytest.param(
            [ROW | {"image": "a.png", "id": "x"}],
            {"shots": 1},
            r"shots: .*dev.jsonl, line 1 is the question of .*fridge.jsonl, line 1",
            id="a question of the test",
        ),
    ],
)
def test_examples_that_cannot_be_used_are_refused(with_images, rows, settings, why):
    with pytest.raises(SettingsError, match=why):
        shots(with_images, rows, **settings)


def test_examples_are_never_rows_of_the_file_itself(tmp_path):
    with pytest.raises(
        SettingsError, match="shots: examples would come from the file of the questions"
    ):
        built(tmp_path, [ROW], shots=1, shots_split="dev")


def test_answers_of_a_second_file_leave_the_question_of_the_same_name(tmp_path):
    """LLaVA-Bench has its questions and its answers in the column ``text`` of two files."""
    (tmp_path / "keys.json").write_text('[{"id": "7", "text": "red"}]')
    (question,) = built(
        tmp_path,
        [{"id": "7", "text": "Which colour?"}],
        columns={"question": "text"},
        answers_file={"file": "keys.json", "answer": "text"},
        answer_type="text",
    ).questions
    assert (question.text, question.answer) == ("Which colour?", ("red",))


def test_a_file_of_rows_that_are_no_objects_says_so_and_not_that_columns_are_missing(tmp_path):
    """DREAM's rows are lists of a dialogue, its questions and an id."""
    with pytest.raises(SourceError, match=r"no usable row: .*not a JSON object"):
        built(tmp_path, [["A dialogue", [{"question": "Who?"}], "7"]], columns={"question": "q"})


def test_a_number_in_a_template_gets_leading_zeros(tmp_path):
    """VQA has ``image_id: 42`` of the file ``COCO_val2014_000000000042.jpg``."""
    (tmp_path / "COCO_000042.png").write_bytes(b"a")
    rows = [ROW | {"id": "7", "image_id": 42}, ROW | {"id": "8", "image_id": "x"}]
    benchmark = built(tmp_path, rows, columns={"images": "COCO_{image_id:06}.png"})
    assert [len(question.images) for question in benchmark.questions] == [1]
    assert benchmark.rejections[0].reason == "{image_id}: 'x' (expected a whole number)"
