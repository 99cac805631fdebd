from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.schema.chat import Image, Prompt, Response
from bench_assets.core.schema.rows import Judgement
from bench_assets.core.text.escaping import escape_controls
from tests.cases import read_cases
from tests.fakes.codis_release import image
from tests.fakes.quiz import TASK
from tests.fakes.rows import prediction, question
from tests.report.many_samples import ManySamples, make_report
from tests.report.quiz_report import QuizReport

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser

HOSTILE = {
    "a script": "</script><script>document.title='x'</script><img src=x onerror=alert(1)>",
    "a path": "../../etc/passwd",
    "control characters": "a\x1b[31mb\x00c\u202ed",
    "right to left": "مرحبا بالعالم",
    "a prototype": "__proto__",
    "not plain": "line\u2028line 👩\u200d🔬 'quoted' \"twice\" `ticks` ${x}",
}
RUN = ("run/step-100", "run/step-200")


@pytest.fixture(scope="module")
def samples_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six questions; two checkpoints, of which the later one lost quiz/1 and gained quiz/2."""
    report = QuizReport(tmp_path_factory.mktemp("samples"))
    digests = [report.images.put(image(n), f"{n}.png").sha256 for n in range(2)]
    report.write_questions(
        *(
            question(
                question_id=f"quiz/{n}",
                task="quiz",
                kind="choice",
                text=f"What is {n}?",
                options=("up", "down"),
                answer=("A",),
                images=digests[: n % 3],
                category="even" if n % 2 == 0 else "odd",
            )
            for n in range(6)
        )
    )
    for model, letters in zip(RUN, ("AABBBB", "ABABBB"), strict=True):
        report.write_scored_responses(
            [
                prediction(question_id=f"quiz/{n}", model=model, text=f"({letter}) by {model}")
                for n, letter in enumerate(letters)
            ],
            [float(letter == "A") for letter in letters],
            [(letter,) for letter in letters],
        )
    return report.build()


def open_samples(page: "Page", samples_page: Path, query: str = "") -> None:
    """Open the samples of the quiz, with the filters of an address."""
    page.set_default_timeout(20_000)  # ms; tests of other processes slow the browser down
    page.goto(f"{samples_page.as_uri()}#/samples/quiz{query}")
    page.get_by_role("listbox").wait_for()


def listed_ids(page: "Page") -> list[str]:
    return page.locator(".row-id").all_inner_texts()


@pytest.mark.parametrize(("query", "expected"), read_cases(__file__, "filters.jsonl"))
def test_a_link_lists_the_samples_that_pass_its_filters(page, samples_page, query, expected):
    open_samples(page, samples_page, query)
    page.wait_for_function(
        f"() => document.querySelector('.found').textContent.startsWith('{len(expected)} of 6')"
    )
    assert listed_ids(page) == [f"quiz/{n}" for n in expected]


def selected(page: "Page", question_id: str) -> "Locator":
    """The heading of the details, if they are those of a question."""
    return page.locator(".sample-detail h2").get_by_text(question_id, exact=True)


def test_j_and_k_select_the_next_and_the_previous_sample(page: "Page", samples_page: Path) -> None:
    open_samples(page, samples_page, "?model=run/step-200")
    page.keyboard.press("j")
    selected(page, "quiz/1").wait_for()
    page.keyboard.press("j")
    selected(page, "quiz/2").wait_for()
    page.keyboard.press("k")
    selected(page, "quiz/1").wait_for()


def test_enter_enlarges_the_images_until_escape(page: "Page", samples_page: Path) -> None:
    open_samples(page, samples_page, "?model=run/step-200")
    page.keyboard.press("j")
    page.keyboard.press("j")
    selected(page, "quiz/2").wait_for()  # which has two images
    page.keyboard.press("Enter")
    caption = page.locator("dialog .zoom-caption")
    caption.get_by_text("1 of 2 · ").wait_for()
    page.keyboard.press("ArrowRight")
    caption.get_by_text("2 of 2 · ").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")


def test_a_slash_searches_and_going_back_ends_the_search(page: "Page", samples_page: Path) -> None:
    open_samples(page, samples_page, "?model=run/step-200")
    page.keyboard.press("j")
    selected(page, "quiz/1").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("what is 5")
    selected(page, "quiz/5").wait_for()
    assert "q=what+is+5" in page.url
    page.go_back()
    page.wait_for_function("() => document.querySelectorAll('.row-id').length === 6")
    selected(page, "quiz/1").wait_for()


def test_a_question_mark_lists_the_keys(page: "Page", samples_page: Path) -> None:
    open_samples(page, samples_page)
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")


def test_a_link_to_a_sample_opens_it_with_its_filters(page: "Page", samples_page: Path) -> None:
    open_samples(page, samples_page, "?model=run/step-200&outcome=wrong")
    page.keyboard.press("j")
    selected(page, "quiz/3").wait_for()
    link = page.get_by_role("link", name="link to this sample").get_attribute("href")
    page.goto("about:blank")
    page.goto(f"{samples_page.as_uri()}{link}")
    selected(page, "quiz/3").wait_for()
    assert listed_ids(page) == ["quiz/1", "quiz/3", "quiz/4", "quiz/5"]
    page.locator("[aria-selected=true] .row-id").get_by_text("quiz/3", exact=True).wait_for()


def write_hostile_samples(report: QuizReport, texts: list[str]) -> None:
    """Write questions, responses and verdicts of two models, with the texts in every field."""
    ids = [f"quiz/{text}" for text in texts]
    questions = [
        question(
            question_id=question_id,
            task="quiz",
            text=text,
            context=text,
            options=(text,),
            category=text,
            group_id=text,
            labels={text: text},
            images=("../../../etc/passwd",),
        )
        for question_id, text in zip(ids, texts, strict=True)
    ]
    report.write_questions(*questions)
    script = texts[0]
    for model in ("../" * 9 + "m", "<b>m</b>"):
        predictions = [
            prediction(question_id=question_id, model=model, text=text, raw_text=f"{text}!")
            for question_id, text in zip(ids, texts, strict=True)
        ]
        report.write_responses(*predictions, answer=(script,), note=script)
        verdicts = [
            Judgement.of(response, judge=script, criterion=script, verdict=True, response=script)
            for response in predictions
        ]
        report.tables.write(["quiz", "judgements"], verdicts, Judgement, model)


def test_hostile_texts_are_shown_as_text(page: "Page", tmp_path: Path) -> None:
    report = QuizReport(tmp_path)
    write_hostile_samples(report, list(HOSTILE.values()))

    open_samples(page, report.build())

    for text in HOSTILE.values():
        start = escape_controls(text)[:2]
        page.locator(".sample-detail .sample > pre", has_text=start).first.wait_for()
        page.keyboard.press("j")
    assert page.title() == "a quiz: samples – bench-assets"
    assert page.locator("main img, main script, main b:has-text('m')").count() == 0
    assert [file for file in tmp_path.rglob("*") if "passwd" in file.name] == []
    assert "a\\x1b[31mb\\x00c\\u202ed" in page.locator(".sample-list").inner_text()


def test_a_response_of_a_megabyte_is_cut_until_a_click(page: "Page", tmp_path: Path) -> None:
    report = QuizReport(tmp_path)
    report.write_questions(question(question_id="quiz/1", task="quiz"))
    report.write_responses(prediction(question_id="quiz/1", text="word " * 200_000 + "end"))
    open_samples(page, report.build())
    more = page.get_by_role("button", name="show all 1 000 003 characters")
    assert len(page.locator(".response pre").inner_text()) < 2_000
    more.click()
    page.wait_for_function(
        "() => document.querySelector('.response pre').textContent.endsWith('word end')"
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_evidence_of_an_answer_is_marked(page, tmp_path, theme):
    from playwright.sync_api import expect

    task = replace(TASK, answer_form=lambda q: AnswerForm("choice", q.options))
    report = QuizReport(tmp_path, task)
    report.write_questions(
        *(question(question_id=f"quiz/{n}", task="quiz", options=("x", "y")) for n in (1, 2))
    )
    thought, statement = "Perhaps A. \N{GRINNING FACE} ", "The answer is B. I am sure."
    short = prediction(question_id="quiz/1", text=thought + statement)
    long = prediction(question_id="quiz/2", text=thought * 500 + statement)
    report.write_responses(short, long, answer=("B",), note="statement", scorer="exact")
    page.emulate_media(color_scheme=theme)
    open_samples(page, report.build())
    marked = page.locator(".response mark")
    expect(marked).to_have_text("B")
    assert marked.evaluate("mark => mark.nextSibling.textContent") == ". I am sure."
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    assert not axe.run(page, options={"preload": False}).response["violations"]
    page.keyboard.press("j")
    expect(marked).to_have_count(0)  # the long response is cut before its statement
    page.get_by_role("button", name="with what was read").click()
    expect(marked).to_have_text("B")
    assert marked.evaluate("mark => mark.nextSibling.textContent") == ". I am sure."


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_prompts_are_shown_as_they_were_sent(page, tmp_path, theme):
    from playwright.sync_api import expect

    report = QuizReport(tmp_path)
    digest = report.images.put(image(1), "1.png").sha256
    sent = Prompt.of("First this.", Image(digest), "Then that. " * 200, system="Be brief.")
    judge_prompt = Prompt.of("Is it right?")
    response = prediction(question_id="quiz/0", model="m", text="A", prompt_sha256=sent.sha256)
    verdict = Judgement.from_response(
        response,
        Response(text="yes"),
        prompt=judge_prompt,
        judge="j",
        criterion="right",
        verdict=True,
    )
    report.write_questions(question(question_id="quiz/0", task="quiz", images=(digest,)))
    report.write_responses(response)
    report.tables.write(["quiz", "judgements"], [verdict], Judgement, "m")
    prompts = {prompt.sha256: prompt.to_json() for prompt in (sent, judge_prompt)}
    page.emulate_media(color_scheme=theme)
    open_samples(
        page,
        report.build(find_prompts=lambda digests: {sha256: prompts[sha256] for sha256 in digests}),
    )
    page.get_by_text("prompt as sent").click()
    turns = page.locator(".sent .turn")
    expect(turns).to_have_count(2)
    expect(turns.nth(0)).to_have_text("systemBe brief.")
    parts = turns.nth(1).locator("> *")
    expect(parts.nth(1)).to_have_text("First this.")
    assert parts.nth(2).evaluate("image => image.decode().then(() => image.naturalWidth)") > 1
    expect(parts.nth(3)).to_contain_text("Then that.")
    page.get_by_text("the judge's prompt").click()
    expect(page.get_by_text("Is it right?")).to_be_visible()
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    assert not axe.run(page, options={"preload": False}).response["violations"]


@pytest.fixture(scope="module")
def large_samples_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20,000 questions with responses of ten checkpoints, of which run/step-900 is the last."""
    folder = tmp_path_factory.mktemp("many")
    home = ManySamples(folder, 20_000, n_images=50)
    for index in range(10):
        home.add_model(f"run/step-{100 * index}")
    return make_report(folder)


@pytest.fixture
def cpu_seconds(page: "Page") -> Callable[[], float]:
    """A clock of the CPU time of the page's main thread, which other processes do not affect."""
    page.set_default_timeout(60_000)  # ms
    chromium = page.context.new_cdp_session(page)
    chromium.send("Performance.enable", {"timeDomain": "threadTicks"})

    def read_clock() -> float:
        metrics = chromium.send("Performance.getMetrics")["metrics"]
        return float(next(m["value"] for m in metrics if m["name"] == "TaskDuration"))

    return read_clock


@pytest.mark.long
@pytest.mark.parametrize(
    ("label", "value"),
    [
        pytest.param("Show", "wrong-by-all", id="wrong by all"),
        pytest.param("Show", "disagree", id="models disagree"),
        pytest.param("Show", "worse", id="worse than the checkpoint before"),
        pytest.param("Category", "kind 3", id="a category"),
    ],
)
def test_a_filter_takes_less_than_a_fifth_of_a_second(
    page: "Page", large_samples_page: Path, cpu_seconds: Callable[[], float], label: str, value: str
) -> None:
    page.goto(f"{large_samples_page.as_uri()}#/samples/quiz?model=run/step-900")
    page.locator(".response pre").first.wait_for()
    page.wait_for_timeout(500)  # until the page has rendered: that is not the filter's time
    started = cpu_seconds()
    page.get_by_role("combobox", name=label).select_option(value)
    page.wait_for_function("() => !document.querySelector('.found').textContent.startsWith('20 0')")
    page.wait_for_function("() => document.querySelector('.sample-row')")
    assert cpu_seconds() - started < 0.2
