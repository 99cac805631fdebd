import pytest

from bench_assets.file_benchmarks.nested_columns import paths_of
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from tests.cases import read_cases
from tests.file_benchmarks.test_questions import build_benchmark

PASSAGE = {
    "title": "A cup",
    "paragraphs": [
        {
            "text": "It is red.",
            "qas": [
                {"qid": "a", "q": "Which colour?", "answers": [{"text": "red"}, {"text": "Red"}]},
                {"qid": "b", "q": "Is it blue?", "answers": [{"text": "no"}]},
            ],
        },
        {"text": "It is full.", "qas": [{"qid": "c", "q": "Is it full?", "answers": []}]},
    ],
}
SQUAD_COLUMNS = {
    "question": "paragraphs.qas.q",
    "answer": "paragraphs.qas.answers.text",
    "context": "paragraphs.text",
}


def test_a_nested_question_has_its_options_key_and_slice(tmp_path):
    options = [{"label": "A", "text": "bank"}, {"label": "B", "text": "mall"}]
    row = {"key": "B", "q": {"stem": "Where?", "concept": "door", "choices": options}}
    columns = {"question": "q.stem", "options": "q.choices", "answer": "key"}
    (question,) = build_benchmark(tmp_path, [row], columns=columns, slices=("q.concept",)).questions
    assert question.text == "Where?"
    assert question.options == ("bank", "mall")
    assert question.answer == ("B",)
    assert question.labels["q.concept"] == "door"


def test_each_object_of_nested_lists_is_a_question_with_its_own_context(tmp_path):
    benchmark = build_benchmark(tmp_path, [PASSAGE], columns=SQUAD_COLUMNS, answer_type="text")
    questions = [(q.text, q.answer, q.context, q.labels["title"]) for q in benchmark.questions]
    assert questions == [
        ("Which colour?", ("red", "Red"), "It is red.", "A cup"),
        ("Is it blue?", ("no",), "It is red.", "A cup"),
    ]
    (rejection,) = benchmark.rejections
    assert rejection.entry.endswith("line 1, question 3")
    assert rejection.reason == "no answer"


@pytest.mark.parametrize(
    ("id_column", "ids"),
    [
        pytest.param("paragraphs.qas.qid", ["fridge/a", "fridge/b"], id="of the question"),
        pytest.param("title", ["fridge/A cup/1", "fridge/A cup/2"], id="of the row"),
    ],
)
def test_an_id_of_the_row_gets_the_number_of_the_question(tmp_path, id_column, ids):
    columns = SQUAD_COLUMNS | {"id": id_column}
    benchmark = build_benchmark(tmp_path, [PASSAGE], columns=columns, answer_type="text")
    assert [question.question_id for question in benchmark.questions] == ids


@pytest.mark.parametrize(
    ("row", "columns", "expected"), read_cases(__file__, "nested_rows.jsonl", tuples=True)
)
def test_a_nested_row_becomes_questions_with_answers(tmp_path, row, columns, expected):
    questions = build_benchmark(tmp_path, [row], columns=columns, answer_type="text").questions
    assert tuple((question.text, question.answer) for question in questions) == expected


def test_ids_in_lists_belong_to_the_questions_in_order(tmp_path):
    row = {"q": ["Which colour?", "Is it full?"], "a": ["red", "no"], "n": [7, 8]}
    columns = {"question": "q", "answer": "a", "id": "n"}
    questions = build_benchmark(tmp_path, [row], columns=columns, answer_type="text").questions
    assert [q.question_id for q in questions] == ["fridge/7", "fridge/8"]


def test_an_object_written_as_text_gives_no_number_to_the_id(tmp_path):
    row = {"id": 7, "turn": '[{"value": "Which colour?"}, {"value": "red"}]'}
    columns = {"question": "turn.0.value", "answer": "turn.1.value"}
    (question,) = build_benchmark(tmp_path, [row], columns=columns, answer_type="text").questions
    assert question.question_id == "fridge/7"


def test_a_row_with_an_empty_list_is_rejected(tmp_path):
    row = {"title": "A lid", "paragraphs": []}
    benchmark = build_benchmark(tmp_path, [PASSAGE, row], columns=SQUAD_COLUMNS, answer_type="text")
    _, rejection = benchmark.rejections  # the first is the question of the passage without answers
    assert rejection.entry.endswith("line 2")
    assert rejection.reason == "question: [] is not a text or a number"


def test_a_column_with_a_dot_in_its_name_is_that_column(tmp_path):
    row = {"q.stem": "Is it red?", "q": {"stem": "Is it blue?"}, "answer": "yes"}
    (question,) = build_benchmark(tmp_path, [row], columns={"question": "q.stem"}).questions
    assert question.text == "Is it red?"


def test_paths_are_collected_from_columns_templates_slices_prompts_and_groups():
    benchmark = FileBenchmarkSettings(
        file="a.jsonl",
        columns={"question": "a.b", "images": ["{c.d}.jpg", "e"], "id": "{f.g // 2}"},
        slices=("h.i",),
        prompt="{question} {j.k}",
        groups={"pairs": ("l.m",)},
    )
    assert paths_of(benchmark) == ["a.b", "c.d", "f.g", "h.i", "j.k", "l.m"]
