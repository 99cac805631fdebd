from collections import Counter
from dataclasses import replace

import pytest

from bench_assets.core.schema.chat import Response
from bench_assets.suites.cogbench.construction.selection import question_id, shuffle_options
from bench_assets.suites.cogbench.dataset.reasoning import EVENT
from bench_assets.suites.cogbench.dataset.source import SourceQuestion, Story, StoryChain
from bench_assets.suites.cogbench.vqa import prompts
from bench_assets.suites.cogbench.vqa.questions import ask_writer, read_response, written_questions
from bench_resources.models.registry.baselines import ScriptedModel

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
    first, second = read_response(GOOD, n_chains=2)
    assert first.text == "What is the man doing in the phone booth?"
    assert first.options[3] == "Sheltering from the cold wind."
    assert (first.answer, second.answer) == ("D", "B")


@pytest.mark.parametrize(
    ("response", "complaint"),
    [
        pytest.param("", "0 lines; each question has six", id="nothing"),
        pytest.param(f"Sure! Here they are:\n{GOOD}", "13 lines; each question", id="a preamble"),
        pytest.param(GOOD.replace("C. A", "c) A"), "starts with 'C. '", id="another bracket"),
        pytest.param(GOOD.replace("[D]", "D"), "expected 'Correct Answer: [X]'", id="no bracket"),
        pytest.param(GOOD.replace("[D]", "[E]"), "X from A to D, found", id="no such letter"),
        pytest.param(GOOD.replace("B. Reading a book.\n", ""), "11 lines", id="three options"),
        pytest.param(GOOD.replace("B. Reading a book.", "B. "), "starts with 'B. '", id="empty"),
    ],
)
def test_a_response_in_another_form_is_complained_about(response, complaint):
    assert complaint in read_response(response, n_chains=1)


def test_fewer_questions_than_chains_are_complained_about():
    assert "2 questions for 3 reasoning processes" in read_response(GOOD, n_chains=3)


def test_the_writer_is_asked_again_with_the_complaint_until_its_response_can_be_read():
    responses = iter(["I will not.", GOOD])
    prompts_seen = []
    writer = ScriptedModel("w", lambda r: prompts_seen.append(r.prompt) or next(responses))
    rows = ask_writer([STORY], CHAINS, writer, max_tries=3)
    assert [(row.tries, bool(row.complaint)) for row in rows] == [(1, True), (2, False)]
    first, again = prompts_seen
    assert first.turns[0] == again.turns[0]
    assert again.turns[1].parts == ("I will not.",)
    assert "1 lines; each question has six" in again.turns[2].parts[0]
    questions = written_questions(rows, CHAINS)
    assert [(q.tries, q.chain, q.side) for q in questions] == [
        (2, 1, "conclusion"),
        (2, 1, "evidence"),
    ]


def test_a_writer_that_could_not_be_reached_is_asked_the_same_again():
    class Faltering:
        name, signature = "w", "w"

        def __init__(self):
            self.seen = []

        def response(self, requests):
            self.seen += [request.prompt for request in requests]
            failed = len(self.seen) == 1
            return [Response(error="timed out") if failed else Response(text=GOOD)]

    writer = Faltering()
    rows = ask_writer([STORY], CHAINS, writer, max_tries=3)
    assert [row.complaint for row in rows] == ["timed out", ""]
    assert writer.seen[0] == writer.seen[1]


def test_a_writer_that_never_writes_well_leaves_its_responses_and_no_question():
    rows = ask_writer([STORY], CHAINS, ScriptedModel("w", lambda _: "No."), max_tries=3)
    assert len(rows) == 3
    assert written_questions(rows, CHAINS) == []


def test_the_prompt_is_figure_7(shared_data):
    paper = (shared_data.parent / "papers" / "cogbench.txt").read_text()
    figure = paper[paper.index("We have a description of an image") : paper.index("Figure 7: An")]
    ours = prompts.writer_prompt(STORY, EVENT, [CHAIN]).turns[0].parts[0]
    shown = ours[: ours.index("[Description]:\nA windy day.")]

    def words(text):
        for ours, theirs in (("$A_1+A_2+\\dots \\rightarrow B$", "A1+A2+... -> B"),):
            text = text.replace(ours, theirs)
        text = text.replace("$A_1, A_2, \\dots$", "A1, A2, ...").replace("$B$", "B")
        text = text.replace("$\\rightarrow$", "->")
        return [word for word in text.split() if word != "-"]

    assert words(shown) == words(figure)


def question(**fields):
    options = ("right", "one", "two", "three")
    defaults = {"where": "", "image_id": "a", "category": "event", "text": "?", "answer": "A"}
    return SourceQuestion(**defaults | {"options": options} | fields)


def test_dealt_letters_are_about_balanced_and_keep_the_right_option_right():
    dealt = [shuffle_options(question(text=str(number)), seed=0) for number in range(400)]
    assert all(q.options["ABCD".index(q.answer)] == "right" for q in dealt)
    assert all(80 <= n <= 120 for n in Counter(q.answer for q in dealt).values())


def test_a_letter_depends_on_nothing_but_the_question_itself():
    one = question()
    other_order = replace(one, options=("three", "right", "two", "one"), answer="B")
    assert question_id(one) == question_id(other_order)
    assert shuffle_options(one, 0) == shuffle_options(other_order, 0)
    assert question_id(one) != question_id(question(image_id="b"))
