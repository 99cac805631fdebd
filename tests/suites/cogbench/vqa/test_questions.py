import json
import re
from collections import Counter

import dagster as dg
import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Question, Rejection
from bench_assets.core.tables.build import FunnelStep
from bench_assets.suites.cogbench.construction.selection import shuffle_options
from bench_assets.suites.cogbench.dataset.reasoning import KINDS
from bench_assets.suites.cogbench.dataset.source import Story, StoryChain
from bench_assets.suites.cogbench.vqa import prompts
from bench_assets.suites.cogbench.vqa.questions import (
    WrittenQuestion,
    ask_writer,
    parse_questions,
    read_response,
)
from bench_assets.suites.cogbench.vqa.refinement import SOLVABLE, Flag
from bench_resources.models.registry.baselines import ScriptedModel
from tests.fakes.fair_exam import unfair
from tests.suites.cogbench.graph import DATASET_ASSETS, Bench
from tests.suites.cogbench.release import description_entry, source_question, vqa_row, write_release


@pytest.fixture(scope="module")
def mini_home(tmp_path_factory):
    home = Bench(tmp_path_factory.mktemp("home"))
    assert set(home.materialize_and_check(DATASET_ASSETS).values()) == {True}
    return home


@pytest.mark.long
def test_each_written_question_is_kept_or_rejected_with_a_reason(mini_home):
    written = mini_home.rows("vqa/written_questions", WrittenQuestion)
    written_ids = [row.question_id for row in written]
    kept_ids = {row.question_id for row in mini_home.rows("vqa/questions", Question)}
    reasons = [row.reason for row in mini_home.rows("vqa/rejections", Rejection)]
    assert [re.split("[: ]", reason)[0] for reason in reasons] == [
        "solved",
        "dropped",
        "replaced",
        "repeats",
    ]
    assert len(written_ids) - len(kept_ids) == 3  # one dropped, one solved, one written twice
    assert len(set(written_ids) - kept_ids) == 3  # one dropped, one solved, one replaced


@pytest.mark.long
def test_a_solvable_question_without_a_decision_is_left_out(mini_home):
    flags = [row for row in mini_home.rows("vqa/flags", Flag) if row.flag == SOLVABLE]
    assert sorted(row.decision for row in flags) == ["", "drop", "replace"]
    (undecided_id,) = (row.question_id for row in flags if not row.decision)
    kept_ids = {row.question_id for row in mini_home.rows("vqa/questions", Question)}
    assert undecided_id not in kept_ids


@pytest.mark.parametrize("category", [kind.name for kind in KINDS])
@pytest.mark.long
def test_no_kind_of_reasoning_can_be_passed_without_its_image(mini_home, category):
    questions = mini_home.rows("vqa/questions", Question)
    exam = [question for question in questions if question.category == category]
    assert exam
    assert unfair([exam]) == {}


CHAIN_OF_STORY = "It snows. -> It is winter."


@pytest.fixture(scope="module")
def published_home(tmp_path_factory):
    """The home of a release with one story and three questions, of which two are the same."""
    folder = tmp_path_factory.mktemp("published")
    stories = {"kite": description_entry(**{"Special Time Reasoning": [CHAIN_OF_STORY]})}
    questions = [vqa_row(), vqa_row(question="Which season?", category="time"), vqa_row()]
    source = write_release(folder / "source", stories, questions)
    # No model answers without images: there is none of that name.
    home = Bench(folder / "home", source=source, text_model="nobody")
    # One image is not the paper's 251: the check of the paper's numbers compares nothing.
    assert set(home.materialize_and_check(DATASET_ASSETS).values()) == {True}
    return home


def test_a_published_story_becomes_a_question_with_entities_and_chains(published_home):
    (question,) = published_home.rows("description/questions", Question)
    assert (question.question_id, question.edition) == ("cogbench/description/kite", "own")
    assert question.labels == {"Entities": "girl\nkite", "Special Time Reasoning": CHAIN_OF_STORY}


def test_published_questions_are_kept_even_if_they_are_repeated(published_home):
    first, season, repeated = published_home.rows("vqa/questions", Question)
    assert (first.category, season.category, first.edition) == ("Event", "Time", "own")
    assert repeated.question_id == f"{first.question_id}-2"


def test_nothing_of_a_sound_release_is_rejected(published_home):
    assert published_home.rows("rejections", Rejection) == []
    assert published_home.rows("vqa/rejections", Rejection) == []


def test_the_funnel_counts_images_entities_and_chains(published_home):
    steps = {step.step: step.n for step in published_home.rows("funnel", FunnelStep)}
    assert (steps["images kept"], steps["chains"]) == (1, 1)
    assert steps["entities"] == 2  # girl, kite


@pytest.mark.parametrize(
    ("rejections", "questions", "entry"),
    [
        pytest.param("rejections", "description/questions", "image boat.png", id="description"),
        pytest.param("vqa/rejections", "vqa/questions", "cogbench_vqa.json, entry 2", id="vqa"),
    ],
)
def test_an_entry_without_its_image_is_rejected_and_the_rest_is_of_edition_own(
    tmp_path, rejections, questions, entry
):
    stories = {"kite": description_entry(), "boat": description_entry(**{"Image Name": "boat.png"})}
    source = write_release(tmp_path / "source", stories, [vqa_row(), vqa_row(img_id="boat")])
    home = Bench(tmp_path / "home", source=source)
    home.materialize_and_check(DATASET_ASSETS)
    (rejection,) = home.rows(rejections, Rejection)
    assert rejection.entry == entry
    (question,) = home.rows(questions, Question)
    assert question.edition == "own"


def test_invalid_reviews_and_refinements_are_rejections_of_their_task(tmp_path):
    source = tmp_path / "source"
    (source / "images").mkdir(parents=True)
    (source / "annotations.json").write_text("[]")
    (source / "reviews.json").write_text('[{"image": "a.png", "accept": "yes"}]')
    (source / "refinements.json").write_text('[{"question_id": "q", "action": "maybe"}]')
    (source / "writer_responses.jsonl").write_text('{"question_id": "q", "text": ""}')
    home = Bench(tmp_path / "home", source=source)
    home.materialize_and_check(DATASET_ASSETS)
    assert [(row.entry, row.reason) for row in home.rows("rejections", Rejection)] == [
        ("reviews.json, entry 1", "field 'accept' is 'yes', expected true or false")
    ]
    assert [(row.entry, row.reason) for row in home.rows("vqa/rejections", Rejection)] == [
        ("refinements.json, entry 1", "action 'maybe'; expected keep, drop or replace")
    ]


@pytest.mark.parametrize(
    ("missing_file", "blocked_task", "other_task"),
    [
        pytest.param("cogbench_description.json", "description", "vqa", id="no descriptions"),
        pytest.param(
            "cogbench_vqa.json", "vqa", "description", id="no questions", marks=pytest.mark.long
        ),
    ],
)
def test_a_missing_file_blocks_its_task_only(tmp_path, missing_file, blocked_task, other_task):
    source = write_release(tmp_path / "source", {"kite": description_entry()}, [vqa_row()])
    (source / missing_file).unlink()
    home = Bench(tmp_path / "home", source=source)
    home.materialize_and_check(questions_with_upstream(other_task))
    assert len(home.rows(f"{other_task}/questions", Question)) == 1
    with pytest.raises(SourceError, match=missing_file):
        home.materialize_and_check(questions_with_upstream(blocked_task))


def questions_with_upstream(task):
    questions = dg.AssetSelection.assets(["cogbench", task, "questions"])
    return questions.upstream().required_multi_asset_neighbors() & DATASET_ASSETS


@pytest.mark.long
def test_evaluating_descriptions_measures_recognition_too(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    chains = ["[The girl holds a string] -> [The girl flies a kite]"]
    names = [f"kite-{n}" for n in range(5)]  # as many as the authors' samples: edition own
    images = tuple(f"{name}.jpg" for name in names)
    stories = {
        name: description_entry(**{"Image Name": image, "Event Reasoning": chains})
        for name, image in zip(names, images, strict=True)
    }
    source = write_release(tmp_path / "source", stories, images=images)
    responses = tmp_path / "somebody.jsonl"
    text = "A girl. There is no kite."  # of the entities girl and kite
    lines = [{"question_id": f"cogbench/description/{name}", "text": text} for name in names]
    responses.write_text("\n".join(map(json.dumps, lines)))
    arguments = [
        "evaluate",
        "cogbench/description",
        "--responses",
        str(responses),
        "--source",
        str(source),
        "--json",
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    values = {row["metric"]: row["value"] for row in rows if row["category"] == "all"}
    assert (values["recognition"], values["recognition_official"]) == (0.5, 1.0)


WRITER_RESPONSE = """\
What is the man doing in the phone booth?
A. Making a phone call.
B. Reading a book.
C. Avoiding somebody.
D. Sheltering from the cold wind.
Correct Answer: [D]

Why can we tell that he seeks shelter?
A. It is raining and a man is in a newsstand.
B. It is windy and a man stands in a phone booth.
C. It is raining and a man is in a shop.
D. It is windy and a man is in a bus.
Correct Answer: [B]
"""
STORY = Story(image_id="booth", image="booth.png", entities=("man",), description="A windy day.")
CHAIN = "It is windy. + A man stands in a phone booth. -> He is sheltering from the cold wind."
CHAINS = [StoryChain(image_id="booth", kind="Event", number=1, text=CHAIN)]
EVENT = next(kind for kind in KINDS if kind.code == "event")


def test_a_response_in_the_form_of_figure_7_is_read():
    questions = read_response(WRITER_RESPONSE, n_chains=2)
    assert not isinstance(questions, str)
    first, second = questions
    assert first.text == "What is the man doing in the phone booth?"
    assert first.options == (
        "Making a phone call.",
        "Reading a book.",
        "Avoiding somebody.",
        "Sheltering from the cold wind.",
    )
    assert (first.answer, second.answer) == ("D", "B")


@pytest.mark.parametrize(
    ("response", "complaint"),
    [
        pytest.param("", "0 lines; each question has six", id="nothing"),
        pytest.param(
            f"Sure! Here they are:\n{WRITER_RESPONSE}", "13 lines; each question", id="a preamble"
        ),
        pytest.param(
            WRITER_RESPONSE.replace("[D]", "D"), "expected 'Correct Answer: [X]'", id="no bracket"
        ),
        pytest.param(
            WRITER_RESPONSE.replace("[D]", "[E]"), "X from A to D, found", id="no such letter"
        ),
        pytest.param(
            WRITER_RESPONSE.replace("B. Reading a book.\n", ""), "11 lines", id="three options"
        ),
    ],
)
def test_a_response_in_another_form_gives_a_complaint(response, complaint):
    assert complaint in read_response(response, n_chains=1)


def test_fewer_questions_than_chains_give_a_complaint():
    assert "2 questions for 3 reasoning processes" in read_response(WRITER_RESPONSE, n_chains=3)


class RecordingWriter:
    """A writer that gives the responses in turn, and records its prompts."""

    name, signature = "w", "w"

    def __init__(self, *responses):
        self.remaining = iter(responses)
        self.prompts = []

    def response(self, requests):
        self.prompts += [request.prompt for request in requests]
        return [next(self.remaining) for _ in requests]


def test_the_writer_gets_the_complaint_until_its_response_can_be_read():
    writer = RecordingWriter(Response(text="I will not."), Response(text=WRITER_RESPONSE))
    rows = ask_writer([STORY], CHAINS, writer)
    assert [(row.tries, bool(row.complaint)) for row in rows] == [(1, True), (2, False)]
    first_prompt, second_prompt = writer.prompts
    request, response, complaint = second_prompt.turns
    assert first_prompt.turns == (request,)
    assert response.parts == ("I will not.",)
    assert "1 lines; each question has six" in str(complaint.parts[0])


def test_a_written_question_has_the_try_the_chain_and_the_side_that_it_asks_for():
    rows = ask_writer([STORY], CHAINS, ScriptedModel("w", lambda _: WRITER_RESPONSE))
    conclusion, evidence = parse_questions(rows, CHAINS)
    assert (conclusion.tries, conclusion.chain, conclusion.side) == (1, 1, "conclusion")
    assert (evidence.tries, evidence.chain, evidence.side) == (1, 1, "evidence")


def test_a_failed_request_to_the_writer_is_repeated_unchanged():
    writer = RecordingWriter(Response(error="timed out"), Response(text=WRITER_RESPONSE))
    rows = ask_writer([STORY], CHAINS, writer)
    assert [row.complaint for row in rows] == ["timed out", ""]
    first_prompt, second_prompt = writer.prompts
    assert first_prompt == second_prompt


def test_a_writer_without_a_readable_response_gives_three_rows_and_no_question():
    rows = ask_writer([STORY], CHAINS, ScriptedModel("w", lambda _: "No."))
    assert len(rows) == 3
    assert parse_questions(rows, CHAINS) == []


def test_the_prompt_is_figure_7(shared_data):
    paper = (shared_data.parent / "papers" / "cogbench.txt").read_text()
    figure = paper[paper.index("We have a description of an image") : paper.index("Figure 7: An")]
    prompt = str(prompts.writer_prompt(STORY, EVENT, [CHAIN]).turns[0].parts[0])
    instruction = prompt[: prompt.index("[Description]:\nA windy day.")]
    assert words_without_markup(instruction) == words_without_markup(figure)


def words_without_markup(text):
    """The words of a text, with formulas as in the text of the paper and without hyphens."""
    text = text.replace("$A_1+A_2+\\dots \\rightarrow B$", "A1+A2+... -> B")
    text = text.replace("$A_1, A_2, \\dots$", "A1, A2, ...").replace("$B$", "B")
    text = text.replace("$\\rightarrow$", "->")
    return [word for word in text.split() if word != "-"]


@pytest.fixture(scope="module")
def shuffled_questions():
    return [shuffle_options(source_question(text=str(n)), seed=0) for n in range(400)]


def test_shuffled_options_keep_the_key_at_the_right_option(shuffled_questions):
    right_options = {q.options["ABCD".index(q.answer)] for q in shuffled_questions}
    assert right_options == {"one"}


def test_shuffled_options_make_each_letter_right_about_equally_often(shuffled_questions):
    counts = Counter(question.answer for question in shuffled_questions)
    assert set(counts) == set("ABCD")
    assert all(80 <= n <= 120 for n in counts.values())  # a quarter of 400 is 100
