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


def put_image(image, name):
    """Stands in for an image store that takes any bytes for an image of 64 x 48 px."""
    data = image if isinstance(image, bytes) else image.read_bytes()
    digest = sha256(data).hexdigest()
    return StoredImage(name=name, sha256=digest, format="PNG", width=64, height=48, n_bytes=1)


def build_benchmark(folder, rows, **settings):
    """Write rows to ``fridge.jsonl``; return the benchmark that is built from them."""
    file = folder / "fridge.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows))
    benchmark = FileBenchmarkSettings(file=file, **settings)
    location = benchmark_location(
        "fridge", file, Settings(home=folder, benchmarks={"fridge": benchmark})
    )
    return build(benchmark, location, put_image)


def test_a_row_becomes_a_question_with_its_other_columns_as_labels(tmp_path):
    (tmp_path / "a.png").write_bytes(b"a")
    row = ROW | {"image": "a.png", "category": "colour", "group": "g", "context": "A cup."}
    benchmark = build_benchmark(
        tmp_path, [row | {"level": 3, "hard": True, "boxes": [1, 2], "by": None}]
    )
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
def test_options_and_the_right_letter_are_read(tmp_path, row, columns, options, letter):
    row = {"id": "7", "question": "Which colour?"} | row
    (question,) = build_benchmark(tmp_path, [row], columns=columns).questions
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
    without_options = {name: cell for name, cell in ROW.items() if name != "options"}
    benchmark = build_benchmark(tmp_path, [without_options | {"answer": "A"} | row, ROW])
    assert [question.question_id for question in benchmark.questions] == ["fridge/7"]
    assert "(expected at least 2" in benchmark.rejections[0].reason


def test_an_option_that_is_the_answer_of_another_row_is_kept(tmp_path):
    rows = [
        ROW | {"id": str(n), "options": ["red", "blue", "N/A"], "answer": answer}
        for n, answer in enumerate(["red", "N/A"])
    ]
    assert {len(question.options) for question in build_benchmark(tmp_path, rows).questions} == {3}


ROWS_WITH_LETTERS = [
    {"id": "0", "question": "Which?\nA. red\nB. blue", "answer": ["B"]},
    {"id": "1", "question": "Which?", "answer": ["BC"]},
    {"id": "2", "question": "Which?", "answer": "D"},
    {"id": "3", "question": "Who?", "answer": "Ada"},
]


def test_a_letter_whose_question_holds_no_options_is_a_rejection(tmp_path):
    benchmark = build_benchmark(tmp_path, ROWS_WITH_LETTERS, columns={"options": "question"})
    assert [(question.kind, question.answer) for question in benchmark.questions] == [
        ("choices", ("B",)),
        ("text", ("Ada",)),
    ]
    reasons = [rejection.reason for rejection in benchmark.rejections]
    assert len(reasons) == 2
    assert all("drawn_options" in reason for reason in reasons)


def test_a_letter_whose_question_holds_options_is_rejected_with_the_setting(tmp_path):
    (rejection,) = build_benchmark(tmp_path, ROWS_WITH_LETTERS).rejections
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
def test_images_are_read_in_their_order(tmp_path, cells, columns):
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_text(name)
    (question,) = build_benchmark(tmp_path, [ROW | cells], columns=columns).questions
    assert question.images == (sha256(b"a.png").hexdigest(), sha256(b"b.png").hexdigest())
    assert question.labels == {}


def test_an_unusable_row_is_a_rejection_with_its_line(tmp_path):
    rows = [
        ROW | {"question": " "},
        ROW | {"answer": "purple"},
        ROW | {"image": "gone.png"},
        ROW | {"id": None},
        ROW | {"question": {"en": "?"}},
        ROW,
    ]
    benchmark = build_benchmark(tmp_path, rows, images="optional")
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


MISSING_IMAGES = pytest.mark.parametrize(
    "image", [None, "", [], [None], float("nan"), ["a.png", None]]
)


@MISSING_IMAGES
def test_a_row_without_its_image_beside_rows_that_have_one_is_rejected(tmp_path, image):
    (tmp_path / "a.png").write_bytes(b"a")
    rows = [ROW | {"image": image}, ROW | {"id": "8", "image": "a.png"}, ROW | {"id": "9"}]
    benchmark = build_benchmark(tmp_path, rows)
    assert [question.question_id for question in benchmark.questions] == ["fridge/8"]
    assert len(benchmark.rejections) == 2
    assert all('set images = "optional"' in rejection.reason for rejection in benchmark.rejections)


@MISSING_IMAGES
def test_images_may_be_optional(tmp_path, image):
    (tmp_path / "a.png").write_bytes(b"a")
    rows = [ROW | {"image": image}, ROW | {"id": "8", "image": "a.png"}, ROW | {"id": "9"}]
    assert len(build_benchmark(tmp_path, rows, images="optional").questions) == 3


def test_a_file_without_images_has_no_rejections(tmp_path):
    assert build_benchmark(tmp_path, [ROW]).rejections == []


def test_without_ids_a_question_is_named_by_its_content(tmp_path):
    """Neither another order nor a corrected answer nor a further column changes the id."""
    colour = {name: cell for name, cell in ROW.items() if name != "id"}
    shape = colour | {"question": "Which shape?"}
    colour_id, shape_id = (
        q.question_id for q in build_benchmark(tmp_path, [colour, shape]).questions
    )
    assert colour_id != shape_id
    corrected = build_benchmark(tmp_path, [shape, colour | {"answer": "A", "level": 1}])
    assert [question.question_id for question in corrected.questions] == [shape_id, colour_id]


def test_a_second_row_of_the_same_id_is_a_rejection(tmp_path):
    (rejection,) = build_benchmark(tmp_path, [ROW, ROW | {"question": "Which?"}]).rejections
    assert rejection.reason == f"the same id fridge/7 as {tmp_path}/fridge.jsonl, line 1"


def test_a_second_row_of_the_same_content_is_a_rejection(tmp_path):
    row = {name: cell for name, cell in ROW.items() if name != "id"}
    benchmark = build_benchmark(tmp_path, [row, row])
    assert len(benchmark.questions) == 1
    (rejection,) = benchmark.rejections
    assert rejection.reason == f"the same question as {tmp_path}/fridge.jsonl, line 1"


@pytest.mark.parametrize(
    ("rows", "settings", "expected_message"), read_cases(__file__, "unusable_files.jsonl")
)
def test_an_unusable_file_is_an_error_that_names_file_and_entry(
    tmp_path, rows, settings, expected_message
):
    with pytest.raises((SettingsError, SourceError), match=expected_message):
        build_benchmark(tmp_path, rows, **settings)


def test_images_are_read_and_listed_from_their_own_folder(tmp_path):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(b"a")
    rows = [ROW | {"image": "a.png"}, ROW | {"id": "8", "image": "gone.png"}]
    assert len(build_benchmark(tmp_path, rows, image_folder="images").questions) == 1
    file = tmp_path / "fridge.jsonl"
    benchmark = FileBenchmarkSettings(file=file, image_folder="images")
    settings = Settings(home=tmp_path, benchmarks={"fridge": benchmark})
    location = benchmark_location("fridge", file, settings)
    assert image_files(benchmark, location) == [str((tmp_path / "images" / "a.png").resolve())]


@pytest.fixture
def questions_to_shuffle():
    """Forty questions of four options, of which every second has two right ones."""
    return [
        question(
            question_id=f"fridge/{n}",
            kind="choices" if n % 2 else "choice",
            options=("r", "g", "b", "w"),
            answer=("A", "D") if n % 2 else ("A",),
        )
        for n in range(40)
    ]


def right_options(question):
    return {question.options["ABCD".index(letter)] for letter in question.answer}


def test_shuffled_options_keep_the_right_ones(questions_to_shuffle):
    shuffled = shuffle_all_options(questions_to_shuffle, seed=1)
    assert len({question.options for question in shuffled}) > 10  # of the 24 orders
    for before, after in zip(questions_to_shuffle, shuffled, strict=True):
        assert after.question_id == before.question_id
        assert right_options(after) == right_options(before)


def test_options_are_shuffled_alike_in_any_order_of_the_questions(questions_to_shuffle):
    shuffled = shuffle_all_options(questions_to_shuffle, seed=1)
    assert shuffle_all_options(questions_to_shuffle[::-1], seed=1) == shuffled[::-1]


@pytest.mark.parametrize(
    ("options", "n_shuffled"),
    [
        pytest.param((), 0, id="none: a text is asked for"),
        pytest.param(("red", "none of the above"), 0, id="one that speaks of those above"),
        pytest.param(("red", "blue", "A and B"), 0, id="one that names the others"),
        pytest.param(("Point A", "Point B"), 0, id="letters in the image"),
        pytest.param(("above the table", "below it"), 1, id="places in the image"),
    ],
)
def test_options_that_refer_to_each_other_or_to_letters_are_not_shuffled(options, n_shuffled):
    kind = "choice" if options else "text"
    questions = [question(kind=kind, options=options, answer=("A",))]
    assert len(shuffle_all_options(questions, seed=0)) == n_shuffled


IMAGES = {name: name.encode() for name in ("a.png", "b.png", "c.png")}


def digests(names):
    return tuple(sha256(IMAGES[name]).hexdigest() for name in names)


@pytest.fixture
def folder_with_images(tmp_path):
    for name, data in IMAGES.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


IMAGE_OPTIONS = ROW | {"options": ["<image>", "<image>"], "question": "Like <image>?"}


def test_options_that_are_images_are_numbered_as_in_muirbench(folder_with_images):
    row = IMAGE_OPTIONS | {"image_list": ["a.png", "b.png", "c.png"]}
    (question,) = build_benchmark(
        folder_with_images, [row], columns={"images": "image_list"}
    ).questions
    assert (question.text, question.options) == ("Like <image 1>?", ("<image 2>", "<image 3>"))
    assert question.images == digests(["a.png", "b.png", "c.png"])


def test_an_option_whose_image_is_missing_is_a_rejection(folder_with_images):
    rows = [IMAGE_OPTIONS | {"image_list": ["a.png"]}, ROW | {"id": "8"}]
    (rejection,) = build_benchmark(
        folder_with_images, rows, columns={"images": "image_list"}, images="optional"
    ).rejections
    assert rejection.reason == (
        '<image 2>: no such image (the question has 1); image_marks = "text" keeps it as text'
    )


def test_an_image_cell_may_be_the_index_of_another_row(folder_with_images):
    """VLMEvalKit's files hold an image once; a reference may stand before the row it names."""
    rows = [
        {"index": n, "question": f"{n}?", "answer": "x", "image": image}
        for n, image in [(1, "2"), (2, "a.png"), (3, "2"), (4, "9")]
    ]
    benchmark = build_benchmark(folder_with_images, rows)
    ids = [question.question_id for question in benchmark.questions]
    assert ids == ["fridge/1", "fridge/2", "fridge/3"]
    assert {question.images for question in benchmark.questions} == {digests(["a.png"])}
    assert [image.name for image in benchmark.images] == ["a.png"]
    (rejection,) = benchmark.rejections
    assert rejection.reason == f"no image '9' in {folder_with_images}, and no row with that id"


def test_images_are_named_by_a_template(folder_with_images):
    rows = [{"Index": "a", "question": "?", "answer": "x"}]
    (question,) = build_benchmark(
        folder_with_images, rows, columns={"images": "{Index}.png"}
    ).questions
    assert question.images == digests(["a.png"])
    assert question.labels == {"Index": "a"}


OPTIONS_IN_QUESTION = {"question": "Open? (a) Yes (b) No", "answer": "(b)"}


def test_options_are_read_from_the_question_if_the_settings_say_so(tmp_path):
    (question,) = build_benchmark(
        tmp_path, [OPTIONS_IN_QUESTION], columns={"options": "question"}
    ).questions
    assert (question.text, question.options, question.answer) == ("Open?", ("Yes", "No"), ("B",))


def test_options_in_the_question_are_an_error_without_the_setting(tmp_path):
    expected_message = r"line 1: the answer is .*, and the question holds opt"
    with pytest.raises(SettingsError, match=expected_message):
        build_benchmark(tmp_path, [OPTIONS_IN_QUESTION])


@pytest.mark.parametrize(
    ("cells", "columns"),
    [
        pytest.param({"turns": ["Hi.", "Why?"]}, {}, id="a list"),
        pytest.param({"turns": '["Hi.", "Why?"]'}, {}, id="a list as text"),
        pytest.param({"a": "Hi.", "b": "Why?", "c": ""}, {"turns": ["a", "b", "c"]}, id="columns"),
    ],
)
def test_each_turn_is_a_message_and_the_template_applies_to_the_last(tmp_path, cells, columns):
    (question,) = build_benchmark(tmp_path, [{"answer": "x"} | cells], columns=columns).questions
    prompt = prompts.main(question, prompts.PromptSettings("{question}!", system="Be brief."))
    assert [(turn.role, *turn.parts) for turn in prompt.turns] == [
        ("system", "Be brief."),
        ("user", "Hi."),
        ("user", "Why?!"),
    ]
    assert len(prompt.rounds()) == 2


@pytest.mark.parametrize(
    ("cells", "expected_message"),
    [
        pytest.param({"turns": ["a", "", "b"]}, "turn 2 is empty", id="an empty turn"),
        pytest.param({"turns": ["a"], "question": "b"}, "a question and turns", id="both"),
        pytest.param({"turns": "a"}, "not a list of texts", id="no list"),
        pytest.param({"turns": [{"role": "user"}]}, "is not a text", id="a turn that is a message"),
        pytest.param({"question": "<image>?"}, "<image 1>: no such image", id="a mark of no image"),
    ],
)
def test_invalid_turns_and_image_marks_are_rejections(tmp_path, cells, expected_message):
    rows = [{"answer": "x"} | cells, {"answer": "x", "question": "Y?"}]
    benchmark = build_benchmark(tmp_path, rows)
    assert expected_message in benchmark.rejections[0].reason


@pytest.mark.parametrize(
    ("cells", "settings", "expected_message"),
    [
        pytest.param({"video": "abc"}, {}, "column 'video' looks like video", id="video"),
        pytest.param(
            {"photo": "a.png"}, {}, r"column 'photo' looks like images \('a.png'\)", id="images"
        ),
        pytest.param({}, {"ignore": ["photo"]}, "ignore: no column 'photo'", id="not there"),
        pytest.param(
            {"level": {"a": 1}}, {"slices": ["level"]}, "no usable row: .*to slice by", id="object"
        ),
    ],
)
def test_a_column_without_a_use_or_that_is_missing_is_refused(
    tmp_path, cells, settings, expected_message
):
    with pytest.raises((SettingsError, SourceError), match=expected_message):
        build_benchmark(tmp_path, [ROW | cells], **settings)


def build_with_examples(folder, rows, **settings):
    """Build a benchmark of one question, with rows as the file of its examples."""
    (folder / "dev.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return build_benchmark(folder, [ROW | {"image": "a.png"}], shots_file="dev.jsonl", **settings)


def test_examples_come_before_each_question_with_their_answers(folder_with_images):
    rows = [
        ROW | {"question": "1?", "answer": "purple"},
        ROW | {"question": "2?", "image": "b.png"},
        {"id": 3, "turns": ["3", "?"], "options": ["red", "blue"], "answer": ["A", "B"]},
        ROW | {"question": "4?"},
    ]
    benchmark = build_with_examples(
        folder_with_images, rows, shots=2, prompt="{question}", images="optional"
    )
    settings = prompts.PromptSettings("{question}", shots=True)
    prompt = prompts.main(benchmark.questions[0], settings)
    image_a, image_b = map(Image, digests(["a.png", "b.png"]))
    assert [(turn.role, turn.parts) for turn in prompt.turns] == [
        ("user", (image_b, "2?")),
        ("assistant", ("B",)),
        ("user", ("3", "\n\n", "?")),
        ("assistant", ("A, B",)),
        ("user", (image_a, "Which colour?")),
    ]
    assert [image.name for image in benchmark.images] == ["a.png", "b.png"]
    assert len(prompt.rounds()) == 1


@pytest.mark.parametrize(
    ("rows", "settings", "expected_message"),
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
def test_unusable_examples_are_refused(folder_with_images, rows, settings, expected_message):
    with pytest.raises(SettingsError, match=expected_message):
        build_with_examples(folder_with_images, rows, **settings)


def test_examples_are_never_rows_of_the_file_itself(tmp_path):
    with pytest.raises(
        SettingsError, match="shots: examples would come from the file of the questions"
    ):
        build_benchmark(tmp_path, [ROW], shots=1, shots_split="dev")


def test_a_column_of_the_answers_file_does_not_replace_the_question_of_its_name(tmp_path):
    """LLaVA-Bench has its questions and its answers in the column ``text`` of two files."""
    (tmp_path / "keys.json").write_text('[{"id": "7", "text": "red"}]')
    (question,) = build_benchmark(
        tmp_path,
        [{"id": "7", "text": "Which colour?"}],
        columns={"question": "text"},
        answers_file={"file": "keys.json", "answer": "text"},
        answer_type="text",
    ).questions
    assert (question.text, question.answer) == ("Which colour?", ("red",))


def test_rows_that_are_not_objects_are_named_as_the_problem(tmp_path):
    """DREAM's rows are lists of a dialogue, its questions and an id."""
    with pytest.raises(SourceError, match=r"no usable row: .*not a JSON object"):
        build_benchmark(
            tmp_path, [["A dialogue", [{"question": "Who?"}], "7"]], columns={"question": "q"}
        )


def test_a_number_in_a_template_gets_leading_zeros(tmp_path):
    """VQA has ``image_id: 42`` of the file ``COCO_val2014_000000000042.jpg``."""
    (tmp_path / "COCO_000042.png").write_bytes(b"a")
    rows = [ROW | {"id": n, "image_id": value} for n, value in enumerate((42, "x", "9" * 5000))]
    benchmark = build_benchmark(tmp_path, rows, columns={"images": "COCO_{image_id:06}.png"})
    assert [len(question.images) for question in benchmark.questions] == [1]
    assert benchmark.rejections[0].reason == "{image_id}: 'x' (expected a whole number)"
    assert benchmark.rejections[1].reason.startswith("{image_id:06}: Exceeds the limit")
