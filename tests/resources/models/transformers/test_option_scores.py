"""Likelihoods and options of the embedded model, against a forward pass of plain transformers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Image, Prompt, Request
from bench_assets.core.schema.rows import Question
from bench_assets.core.tables.source_folder import write_files
from bench_assets.evaluation import pipeline
from bench_assets.suites.blink.construction.recipes import BuilderParameters
from bench_assets.suites.blink.synthetic.edition import material
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.sections.models import EMBEDDED_MODELS
from bench_resources.images.store import open_image_store
from bench_resources.models.registry.opening import Models
from tests.fakes.blink_builds import build_all
from tests.fakes.plain_model import PlainModel

MODEL = "tiny-vlm/step-6840"
DATA_SETS = ("funkpoint", "iiw", "photographs", "vsr")  # in a second; all of BLINK takes fifteen


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """A home of BLINK without questions."""
    home = str(tmp_path_factory.mktemp("home"))
    with Workbench(load_settings(Path(home)), ["blink"]) as workbench:
        yield workbench


@pytest.fixture(scope="module")
def ten_questions(bench: Workbench, tmp_path_factory: pytest.TempPathFactory) -> list[Question]:
    """Ten questions with two to four options and one to three images."""
    folder = tmp_path_factory.mktemp("raw")
    for name in DATA_SETS:
        write_files(folder / name, material(name, seed=0))
    store = open_image_store(bench.settings)
    built = build_all(folder, store=store.put, parameters=BuilderParameters(height=256))
    questions = built.questions[::6][:10]  # of several tasks
    assert {len(question.options) for question in questions} == {2, 3, 4}
    assert {len(question.images) for question in questions} == {1, 2, 3}
    return questions


@pytest.fixture(scope="module")
def models(bench: Workbench) -> Iterator[Models]:
    with bench.models() as models:
        yield models


class PlainForwardPass:
    """Log-probabilities of options by transformers alone, without the engine."""

    def __init__(self, bench: Workbench) -> None:
        self.model = PlainModel(EMBEDDED_MODELS[MODEL].place)
        self.open_image = open_image_store(bench.settings).open

    def logprob(self, prompt: Prompt, option: str) -> float:
        """Log-probability of an option behind a prompt of one turn."""
        parts = prompt.turns[0].parts
        content = [
            self.open_image(part.sha256) if isinstance(part, Image) else part for part in parts
        ]
        return self.model.logprob(content, option)


@pytest.fixture(scope="module")
def forward_pass(bench: Workbench) -> PlainForwardPass:
    return PlainForwardPass(bench)


def predict(bench, models, elicitation, questions):
    (task,) = bench.catalog.tasks_of("blink")
    with models.open(f"{MODEL}+{elicitation}") as model:
        return pipeline.predict(task, questions, model)


def letters_of(question: Question) -> dict[str, int]:
    return dict.fromkeys("ABCD"[: len(question.options)], 1)


def bracketed_letters_of(question: Question) -> dict[str, int]:
    return {f"({letter})": 1 for letter in letters_of(question)}


def texts_by_bytes(question: Question) -> dict[str, int]:
    return {option: len(option.encode()) for option in question.options}


def texts_by_characters(question: Question) -> dict[str, int]:
    return {option: len(option) for option in question.options}


@pytest.mark.parametrize(
    ("elicitation", "divisors_of"),
    [
        ("likelihood", letters_of),
        pytest.param("likelihood-brackets", bracketed_letters_of, marks=pytest.mark.long),
        ("likelihood-texts", texts_by_bytes),
        pytest.param("likelihood-texts-characters", texts_by_characters, marks=pytest.mark.long),
    ],
)
def test_likelihoods_of_ten_questions_are_those_of_a_plain_forward_pass(
    bench, models, ten_questions, forward_pass, elicitation, divisors_of
):
    (task,) = bench.catalog.tasks_of("blink")
    predictions = predict(bench, models, elicitation, ten_questions)
    for question, prediction in zip(ten_questions, predictions, strict=True):
        prompt = task.condition("main").prompt(question)
        expected = [
            forward_pass.logprob(prompt, text) / divisor
            for text, divisor in divisors_of(question).items()
        ]
        assert prediction.error == ""
        assert prediction.logprobs == pytest.approx(expected, abs=2e-4)
        assert prediction.text == "ABCD"[expected.index(max(expected))]


def test_a_request_for_one_option_gets_the_likeliest_one(bench, models, ten_questions):
    (task,) = bench.catalog.tasks_of("blink")
    predictions = predict(bench, models, "likelihood", ten_questions)
    prompt = task.condition("main").prompt
    requests = [
        Request(prompt=prompt(question), elicit="constrained", options=tuple(letters_of(question)))
        for question in ten_questions
    ]
    with models.open(MODEL) as model:
        responses = model.response(requests)
    likeliest = [prediction.text for prediction in predictions]
    assert [response.text for response in responses] == likeliest
    assert not any(response.error for response in responses)


@pytest.mark.parametrize("scorer", ["careful", "official", "as_released"])
def test_every_scorer_reads_the_letter_of_an_elicited_answer(bench, models, ten_questions, scorer):
    (task,) = bench.catalog.tasks_of("blink")
    predictions = predict(bench, models, "likelihood", ten_questions)
    verdicts = pipeline.judge(task, ten_questions, predictions, model=None)
    scores = pipeline.score(task, ten_questions, predictions, verdicts, scorer)
    for question, prediction, score in zip(ten_questions, predictions, scores, strict=True):
        letter = (prediction.text,)
        assert score.answer == letter
        assert score.points == float(question.answer == letter)
        assert not score.no_answer
