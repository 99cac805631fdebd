"""Both routes as assets, with the real sentence encoder."""

import json
from collections import Counter

import dagster as dg
import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from bench_assets.core.schema.chat import Prompt, Response
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Question, Rejection, StoredImage
from bench_assets.core.tables.build import FunnelStep
from bench_assets.suites.cogbench.construction.selection import shuffle_options
from bench_assets.suites.cogbench.dataset.reasoning import EVENT
from bench_assets.suites.cogbench.dataset.source import Story, StoryChain
from bench_assets.suites.cogbench.vqa import prompts
from bench_assets.suites.cogbench.vqa.questions import (
    WrittenQuestion,
    ask_writer,
    read_response,
    written_questions,
)
from bench_assets.suites.cogbench.vqa.refinement import SOLVABLE, Flag
from bench_resources.models.registry.baselines import ScriptedModel
from tests.fakes.fair_exam import unfair
from tests.suites.cogbench.graph import LEFT, Bench
from tests.suites.cogbench.release import described, source_question, vqa_row, write_release


@pytest.fixture(scope="module")
def mini(tmp_path_factory):
    home = Bench(tmp_path_factory.mktemp("home"))
    assert set(home.run(LEFT).values()) == {True}
    return home


@pytest.mark.long
def test_what_was_written_is_kept_or_rejected_with_a_reason(mini):
    written = [row.question_id for row in mini.rows("vqa/written_questions", WrittenQuestion)]
    kept_ids = {row.question_id for row in mini.rows("vqa/questions", Question)}
    reasons = [row.reason for row in mini.rows("vqa/rejections", Rejection)]
    assert [reason.split(":")[0].split(" ")[0] for reason in reasons] == [
        "solved",
        "dropped",
        "replaced",
        "repeats",
    ]
    assert len(written) - len(kept_ids) == 3  # one dropped, one solved, one written twice
    assert len(set(written) - kept_ids) == 3  # one dropped, one solved, one replaced
    flags = [row for row in mini.rows("vqa/flags", Flag) if row.flag == SOLVABLE]
    assert sorted(row.decision for row in flags) == ["", "drop", "replace"]
    (left_out,) = (row.question_id for row in flags if not row.decision)
    assert left_out not in kept_ids


@pytest.mark.long
def test_no_kind_of_reasoning_can_be_passed_without_its_image(mini):
    questions = mini.rows("vqa/questions", Question)
    kinds = {question.category for question in questions}
    assert len(kinds) == 8
    for kind in kinds:
        exam = [question for question in questions if question.category == kind]
        assert unfair([exam]) == {}, kind  # 14 to 32 questions


def test_the_published_route_reads_the_files_as_they_are(tmp_path):
    chain = "It snows. -> It is winter."
    stories = {"kite": described(**{"Special Time Reasoning": [chain]})}
    questions = [
        vqa_row(),
        vqa_row(question="Which season?", category="time"),
        vqa_row(),
    ]
    source = write_release(tmp_path / "source", stories, questions)
    home = Bench(tmp_path / "home", source=source)
    passed = home.run(LEFT)
    assert passed["chains_match_the_paper"]  # not compared: one image is not the paper's 251
    (image,) = home.rows("images", StoredImage)
    assert image.format == "PNG"
    (question,) = home.rows("description/questions", Question)
    assert (question.question_id, question.edition) == ("cogbench/description/kite", "own")
    assert question.labels == {"Entities": "girl\nkite", "Special Time Reasoning": chain}
    first, season, again = home.rows("vqa/questions", Question)
    assert (first.category, season.category, first.edition) == ("Event", "Time", "own")
    assert again.question_id == f"{first.question_id}-2"
    assert home.rows("rejections", Rejection) == []
    assert home.rows("vqa/rejections", Rejection) == []
    steps = {step.step: step.n for step in home.rows("funnel", FunnelStep)}
    assert (steps["images kept"], steps["entities"], steps["chains"]) == (1, 2, 1)


def test_a_release_without_one_of_its_images_is_an_edition_of_its_own(tmp_path):
    stories = {"kite": described(), "boat": described(**{"Image Name": "boat.png"})}
    source = write_release(tmp_path / "source", stories, [vqa_row(), vqa_row(img_id="boat")])
    home = Bench(tmp_path / "home", source=source)
    home.run(LEFT)
    for task, entry in (("", "image boat.png"), ("vqa/", "cogbench_vqa.json, entry 2")):
        (rejection,) = home.rows(f"{task}rejections", Rejection)
        assert rejection.entry == entry
        (question,) = home.rows(f"{task or 'description/'}questions", Question)
        assert question.edition == "own"


def test_bad_decisions_of_people_are_rejections_of_their_task(tmp_path):
    source = tmp_path / "source"
    (source / "images").mkdir(parents=True)
    (source / "annotations.json").write_text("[]")
    (source / "reviews.json").write_text('[{"image": "a.png", "accept": "yes"}]')
    (source / "refinements.json").write_text('[{"question_id": "q", "action": "maybe"}]')
    (source / "writer_responses.jsonl").write_text('{"question_id": "q", "text": ""}')
    home = Bench(tmp_path / "home", source=source)
    home.run(LEFT)
    assert [(row.entry, row.reason) for row in home.rows("rejections", Rejection)] == [
        ("reviews.json, entry 1", "field 'accept' is 'yes', expected true or false")
    ]
    assert [(row.entry, row.reason) for row in home.rows("vqa/rejections", Rejection)] == [
        ("refinements.json, entry 1", "action 'maybe'; expected keep, drop or replace")
    ]


@pytest.mark.parametrize(
    ("damaged", "left"),
    [
        pytest.param("cogbench_description.json", "vqa/questions", id="no descriptions"),
        pytest.param(
            "cogbench_vqa.json", "description/questions", id="no questions", marks=pytest.mark.long
        ),
    ],
)
def test_one_task_does_not_block_the_other(tmp_path, damaged, left):
    source = write_release(tmp_path / "source", {"kite": described()}, [vqa_row()])
    (source / damaged).unlink()
    home = Bench(tmp_path / "home", source=source)
    key = dg.AssetKey(["cogbench", *left.split("/")])
    home.run(dg.AssetSelection.assets(key).upstream().required_multi_asset_neighbors() & LEFT)
    assert len(home.rows(left, Question)) == 1
    task = "description" if "vqa" in left else "vqa"
    other = dg.AssetKey(["cogbench", task, "questions"])
    with pytest.raises(SourceError, match=damaged):
        home.run(dg.AssetSelection.assets(other).upstream().required_multi_asset_neighbors() & LEFT)


@pytest.mark.long
def test_scoring_descriptions_gives_recognition_too(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    chain = ["[The girl holds a string] -> [The girl flies a kite]"]
    names = [
        f"kite-{n}" for n in range(5)
    ]  # as many as the authors' samples: an edition of one's own
    stories = {
        name: described(**{"Image Name": f"{name}.jpg", "Event Reasoning": chain}) for name in names
    }
    images = tuple(f"{name}.jpg" for name in names)
    source = write_release(tmp_path / "source", stories, images=images)
    responses = tmp_path / "somebody.jsonl"
    text = "A girl. There is no kite."
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


GOOD = """\
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


def test_a_response_in_the_form_of_figure_7_is_read():
    read = read_response(GOOD, n_chains=2)
    assert not isinstance(read, str)
    first, second = read
    assert first.text == "What is the man doing in the phone booth?"
    assert first.options[3] == "Sheltering from the cold wind."
    assert (first.answer, second.answer) == ("D", "B")


@pytest.mark.parametrize(
    ("response", "complaint"),
    [
        pytest.param("", "0 lines; each question has six", id="nothing"),
        pytest.param(f"Sure! Here they are:\n{GOOD}", "13 lines; each question", id="a preamble"),
        pytest.param(GOOD.replace("[D]", "D"), "expected 'Correct Answer: [X]'", id="no bracket"),
        pytest.param(GOOD.replace("[D]", "[E]"), "X from A to D, found", id="no such letter"),
        pytest.param(GOOD.replace("B. Reading a book.\n", ""), "11 lines", id="three options"),
    ],
)
def test_a_response_in_another_form_is_complained_about(response, complaint):
    assert complaint in read_response(response, n_chains=1)


def test_fewer_questions_than_chains_are_complained_about():
    assert "2 questions for 3 reasoning processes" in read_response(GOOD, n_chains=3)


def test_the_writer_gets_the_complaint_until_its_response_can_be_read():
    responses = iter(["I will not.", GOOD])
    prompts_seen: list[Prompt] = []

    def reply(request):
        prompts_seen.append(request.prompt)
        return next(responses)

    writer = ScriptedModel("w", reply)
    rows = ask_writer([STORY], CHAINS, writer)
    assert [(row.tries, bool(row.complaint)) for row in rows] == [(1, True), (2, False)]
    first, again = prompts_seen
    assert first.turns[0] == again.turns[0]
    assert again.turns[1].parts == ("I will not.",)
    assert "1 lines; each question has six" in str(again.turns[2].parts[0])
    questions = written_questions(rows, CHAINS)
    assert [(q.tries, q.chain, q.side) for q in questions] == [
        (2, 1, "conclusion"),
        (2, 1, "evidence"),
    ]


def test_a_writer_that_could_not_be_reached_gets_the_same_request_again():
    class Faltering:
        name, signature = "w", "w"

        def __init__(self):
            self.seen = []

        def response(self, requests):
            self.seen += [request.prompt for request in requests]
            failed = len(self.seen) == 1
            return [Response(error="timed out") if failed else Response(text=GOOD)]

    writer = Faltering()
    rows = ask_writer([STORY], CHAINS, writer)
    assert [row.complaint for row in rows] == ["timed out", ""]
    assert writer.seen[0] == writer.seen[1]


def test_a_writer_that_never_writes_well_leaves_its_responses_and_no_question():
    rows = ask_writer([STORY], CHAINS, ScriptedModel("w", lambda _: "No."))
    assert len(rows) == 3
    assert written_questions(rows, CHAINS) == []


def test_the_prompt_is_figure_7(shared_data):
    paper = (shared_data.parent / "papers" / "cogbench.txt").read_text()
    figure = paper[paper.index("We have a description of an image") : paper.index("Figure 7: An")]
    ours = str(prompts.writer_prompt(STORY, EVENT, [CHAIN]).turns[0].parts[0])
    shown = ours[: ours.index("[Description]:\nA windy day.")]

    def words(text):
        for ours, theirs in (("$A_1+A_2+\\dots \\rightarrow B$", "A1+A2+... -> B"),):
            text = text.replace(ours, theirs)
        text = text.replace("$A_1, A_2, \\dots$", "A1, A2, ...").replace("$B$", "B")
        text = text.replace("$\\rightarrow$", "->")
        return [word for word in text.split() if word != "-"]

    assert words(shown) == words(figure)


def test_dealt_letters_are_about_balanced_and_keep_the_right_option_right():
    dealt = [shuffle_options(source_question(text=str(number)), seed=0) for number in range(400)]
    assert all(q.options["ABCD".index(q.answer)] == "one" for q in dealt)
    assert all(80 <= n <= 120 for n in Counter(q.answer for q in dealt).values())
