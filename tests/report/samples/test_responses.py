"""The page of samples in Chromium: filters, keys, texts that mean harm, 20,000 questions."""

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
from tests.report.many_samples import ManySamples
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
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six questions; two checkpoints, of which the later one lost quiz/1 and gained quiz/2."""
    report = QuizReport(tmp_path_factory.mktemp("samples"))
    shown = [report.images.put(image(n), f"{n}.png").sha256 for n in range(2)]
    report.ask(
        *(
            question(
                question_id=f"quiz/{n}",
                task="quiz",
                kind="choice",
                text=f"What is {n}?",
                options=("up", "down"),
                answer=("A",),
                images=shown[: n % 3],
                category="even" if n % 2 == 0 else "odd",
            )
            for n in range(6)
        )
    )
    for model, letters in zip(RUN, ("AABBBB", "ABABBB"), strict=True):
        report.say_each(
            [
                prediction(question_id=f"quiz/{n}", model=model, text=f"({letter}) by {model}")
                for n, letter in enumerate(letters)
            ],
            [float(letter == "A") for letter in letters],
            [(letter,) for letter in letters],
        )
    return report.make()


def opened(page: "Page", index: Path, query: str = "") -> "Locator":
    """Open the samples of the quiz; give the options of the list."""
    page.set_default_timeout(20_000)  # where everybody runs tests at once
    page.goto(f"{index.as_uri()}#/samples/quiz{query}")
    page.get_by_role("listbox").wait_for()
    return page.get_by_role("option", include_hidden=False)


def names(page: "Page") -> list[str]:
    """The samples of the list, by their ids."""
    return page.locator(".row-id").all_inner_texts()


@pytest.mark.parametrize(
    ("query", "expected"),
    read_cases(__file__, "filters.jsonl"),
)
def test_a_link_shows_what_its_filters_say(
    page: "Page", index: Path, query: str, expected: list[int]
) -> None:
    opened(page, index, query)
    page.wait_for_function(
        f"() => document.querySelector('.found').textContent.startsWith('{len(expected)} of 6')"
    )
    assert names(page) == [f"quiz/{n}" for n in expected]


def test_keys_walk_look_closer_search_and_come_back(page: "Page", index: Path) -> None:
    opened(page, index, "?model=run/step-200")
    heading = page.locator(".sample-detail h2")
    for key, expected in (("j", "quiz/1"), ("j", "quiz/2"), ("k", "quiz/1"), ("j", "quiz/2")):
        page.keyboard.press(key)
        heading.get_by_text(expected, exact=True).wait_for()
    page.keyboard.press("Enter")
    caption = page.locator("dialog .zoom-caption")
    caption.get_by_text("1 of 2 · ").wait_for()
    page.keyboard.press("ArrowRight")
    caption.get_by_text("2 of 2 · ").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")  # its end is told later, and moves the focus
    page.keyboard.press("/")
    page.keyboard.type("what is 5")
    heading.get_by_text("quiz/5", exact=True).wait_for()
    assert "q=what+is+5" in page.url
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    page.go_back()
    page.wait_for_function("() => document.querySelectorAll('.row-id').length === 6")
    heading.get_by_text("quiz/2", exact=True).wait_for()


def test_a_link_to_a_sample_opens_it_with_its_filters(page: "Page", index: Path) -> None:
    opened(page, index, "?model=run/step-200&outcome=wrong")
    page.keyboard.press("j")
    page.locator(".sample-detail h2").get_by_text("quiz/3").wait_for()
    link = page.get_by_role("link", name="link to this sample").get_attribute("href")
    page.goto("about:blank")
    page.goto(f"{index.as_uri()}{link}")
    page.locator(".sample-detail h2").get_by_text("quiz/3").wait_for()
    assert names(page) == ["quiz/1", "quiz/3", "quiz/4", "quiz/5"]
    page.locator("[aria-selected=true] .row-id").get_by_text("quiz/3", exact=True).wait_for()


def test_texts_that_mean_harm_are_shown_as_they_are_written(page: "Page", tmp_path: Path) -> None:
    report = QuizReport(tmp_path)
    texts = list(HOSTILE.values())
    ids = [f"quiz/{text}" for text in texts]
    report.ask(
        *(
            question(
                question_id=name,
                task="quiz",
                text=text,
                context=text,
                options=(text,),
                category=text,
                group_id=text,
                labels={text: text},
                images=("../../../etc/passwd",),
            )
            for name, text in zip(ids, texts, strict=True)
        )
    )
    for model in ("../" * 9 + "m", "<b>m</b>"):
        predictions = [
            prediction(question_id=name, model=model, text=text, raw_text=f"{text}!")
            for name, text in zip(ids, texts, strict=True)
        ]
        report.say(*predictions, answer=(texts[0],), note=texts[0])
        verdicts = [
            Judgement.of(one, judge=texts[0], criterion=texts[0], verdict=True, response=texts[0])
            for one in predictions
        ]
        report.tables.write(["quiz", "judgements"], verdicts, Judgement, model)
    index = report.make()
    opened(page, index)
    for text in texts:
        begin = escape_controls(text)[:2]
        page.locator(".sample-detail .sample > pre", has_text=begin).first.wait_for()
        page.keyboard.press("j")
    assert page.title() == "a quiz: samples – bench-assets"
    assert page.locator("main img, main script, main b:has-text('m')").count() == 0
    assert not [one for one in tmp_path.rglob("*") if "passwd" in one.name]
    shown = page.locator(".sample-list").inner_text()
    assert "a\\x1b[31mb\\x00c\\u202ed" in shown


def test_a_megabyte_is_cut_and_shown_whole_on_request(page: "Page", tmp_path: Path) -> None:
    report = QuizReport(tmp_path)
    report.ask(question(question_id="quiz/1", task="quiz"))
    report.say(prediction(question_id="quiz/1", text="word " * 200_000 + "end"))
    opened(page, report.make())
    more = page.get_by_role("button", name="show all 1 000 003 characters")
    assert len(page.locator(".response pre").inner_text()) < 2_000
    more.click()
    page.wait_for_function(
        "() => document.querySelector('.response pre').textContent.endsWith('word end')"
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_an_answer_was_read_from_is_marked(page: "Page", tmp_path: Path, theme: str) -> None:
    from playwright.sync_api import expect

    task = replace(TASK, answer_form=lambda q: AnswerForm("choice", q.options))
    report = QuizReport(tmp_path, task)
    report.ask(
        *(question(question_id=f"quiz/{n}", task="quiz", options=("x", "y")) for n in (1, 2))
    )
    thoughts = "Perhaps A. \N{GRINNING FACE} "
    responses = (
        prediction(question_id=f"quiz/{n}", text=f"{thoughts * times}The answer is B. I am sure.")
        for n, times in ((1, 1), (2, 500))
    )
    report.say(*responses, answer=("B",), note="statement", scorer="exact")
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    opened(page, report.make())
    marked = page.locator(".response mark")
    expect(marked).to_have_text("B")
    assert marked.evaluate("one => one.nextSibling.textContent") == ". I am sure."
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    assert not axe.run(page, options={"preload": False}).response["violations"]
    page.keyboard.press("j")
    expect(marked).to_have_count(0)
    page.get_by_role("button", name="with what was read").click()
    expect(marked).to_have_text("B")
    assert marked.evaluate("one => one.nextSibling.textContent") == ". I am sure."


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_prompts_are_shown_as_they_were_sent(page: "Page", tmp_path: Path, theme: str) -> None:
    from playwright.sync_api import expect

    report = QuizReport(tmp_path)
    shown = report.images.put(image(1), "1.png").sha256
    sent = Prompt.of("First this.", Image(shown), "Then that. " * 200, system="Be brief.")
    judged = Prompt.of("Is it right?")
    response = prediction(question_id="quiz/0", model="m", text="A", prompt_sha256=sent.sha256)
    verdict = Judgement.from_response(
        response, Response(text="yes"), prompt=judged, judge="j", criterion="right", verdict=True
    )
    report.ask(question(question_id="quiz/0", task="quiz", images=(shown,)))
    report.say(response)
    report.tables.write(["quiz", "judgements"], [verdict], Judgement, "m")
    known = {one.sha256: one.to_json() for one in (sent, judged)}
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    opened(page, report.make(find_prompts=lambda wanted: {one: known[one] for one in wanted}), "")
    page.get_by_text("prompt as sent").click()
    turns = page.locator(".sent .turn")
    expect(turns).to_have_count(2)
    expect(turns.nth(0)).to_have_text("systemBe brief.")
    parts = turns.nth(1).locator("> *")
    expect(parts.nth(1)).to_have_text("First this.")
    assert parts.nth(2).evaluate("one => one.decode().then(() => one.naturalWidth)") > 1
    expect(parts.nth(3)).to_contain_text("Then that.")
    page.get_by_text("the judge's prompt").click()
    expect(page.get_by_text("Is it right?")).to_be_visible()
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    assert not axe.run(page, options={"preload": False}).response["violations"]


N, MODELS = 20_000, 10


@pytest.fixture(scope="module")
def many_samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    many = ManySamples(tmp_path_factory.mktemp("many"), N, 50)
    for number in range(MODELS):
        many.add_model(f"run/step-{100 * number}")
    return many.report()


@pytest.fixture
def seconds(page: "Page") -> Callable[[], float]:
    """Seconds that the page's main thread worked until now, whatever else the machine did."""
    page.set_default_timeout(60_000)
    chromium = page.context.new_cdp_session(page)
    chromium.send("Performance.enable", {"timeDomain": "threadTicks"})

    def worked() -> float:
        metrics = chromium.send("Performance.getMetrics")["metrics"]
        return float(next(m["value"] for m in metrics if m["name"] == "TaskDuration"))

    return worked


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
    page: "Page", many_samples: Path, seconds: Callable[[], float], label: str, value: str
) -> None:
    page.goto(f"{many_samples.as_uri()}#/samples/quiz?model=run/step-900")
    page.locator(".response pre").first.wait_for()
    page.wait_for_timeout(500)  # what the first sight still has to do is not the filter's
    started = seconds()
    page.get_by_role("combobox", name=label).select_option(value)
    page.wait_for_function("() => !document.querySelector('.found').textContent.startsWith('20 0')")
    page.wait_for_function("() => document.querySelector('.sample-row')")
    assert seconds() - started < 0.2
