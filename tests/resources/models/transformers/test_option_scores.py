"""Likelihoods and options of the embedded model, against a forward pass of plain transformers."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.chat import Image, Prompt, Request
from bench_assets.core.schema.rows import Prediction, Question
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


DRAWN = ("funkpoint", "iiw", "photographs", "vsr")  # in a second; all of BLINK takes fifteen


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """A home of BLINK without questions."""
    home = str(tmp_path_factory.mktemp("home"))
    with Workbench(load_settings(Path(home)), ["blink"]) as opened:
        yield opened


@pytest.fixture(scope="module")
def ten(bench: Workbench, tmp_path_factory: pytest.TempPathFactory) -> list[Question]:
    """Ten questions with two to four options and one to three images."""
    folder = tmp_path_factory.mktemp("raw")
    for name in DRAWN:
        write_files(folder / name, material(name, seed=0))
    store, size = open_image_store(bench.settings), BuilderParameters(height=256)
    built = build_all(folder, store=store.put, parameters=size)
    found = built.questions[::6][:10]
    assert {len(q.options) for q in found} == {2, 3, 4}
    assert {len(q.images) for q in found} == {1, 2, 3}
    return found


@pytest.fixture(scope="module")
def models(bench: Workbench) -> Iterator[Models]:
    with bench.models() as opened:
        yield opened


class ByHand:
    """Prompts of the pipeline, by plain forward passes."""

    def __init__(self, bench: Workbench) -> None:
        self.model = PlainModel(EMBEDDED_MODELS[MODEL].place)
        self.open = open_image_store(bench.settings).open

    def logprob(self, prompt: Prompt, option: str) -> float:
        """Log-probability of an option behind a prompt of one turn."""
        parts = prompt.turns[0].parts
        content = [self.open(part.sha256) if isinstance(part, Image) else part for part in parts]
        return self.model.logprob(content, option)


@pytest.fixture(scope="module")
def by_hand(bench: Workbench) -> ByHand:
    return ByHand(bench)


def predict(
    bench: Workbench, models: Models, how: str, questions: Sequence[Question]
) -> list[Prediction]:
    (task,) = bench.catalog.tasks_of("blink")
    with models.open(f"{MODEL}+{how}") as model:
        return pipeline.predict(task, questions, model)


@pytest.mark.parametrize(
    "form",
    [
        ("likelihood", lambda q: "ABCD"[: len(q.options)], lambda _: 1),
        pytest.param(
            ("likelihood-brackets", lambda q: [f"({a})" for a in "ABCD"[: len(q.options)]], None),
            marks=pytest.mark.long,
        ),
        ("likelihood-texts", lambda q: q.options, lambda option: len(option.encode())),
        pytest.param(
            ("likelihood-texts-characters", lambda q: q.options, len), marks=pytest.mark.long
        ),
    ],
)
def test_likelihoods_of_ten_questions_are_those_of_a_plain_forward_pass(
    bench: Workbench, models: Models, ten: list[Question], by_hand: ByHand, form
):
    (task,) = bench.catalog.tasks_of("blink")
    how, options, size = form
    for question, prediction in zip(ten, predict(bench, models, how, ten), strict=True):
        prompt = task.condition("main").prompt(question)
        expected = [
            by_hand.logprob(prompt, option) / (size(option) if size else 1)
            for option in options(question)
        ]
        assert prediction.error == ""
        assert prediction.logprobs == pytest.approx(expected, abs=2e-4)
        assert prediction.text == "ABCD"[expected.index(max(expected))]


def test_a_request_for_one_option_gets_the_likeliest_one(
    bench: Workbench, models: Models, ten: list[Question]
):
    likeliest = predict(bench, models, "likelihood", ten)
    prompt = bench.catalog.tasks_of("blink")[0].condition("main").prompt
    requests = [
        Request(prompt=prompt(question), elicit="constrained", options=tuple("ABCD"[:n]))
        for question in ten
        for n in [len(question.options)]
    ]
    with models.open(MODEL) as model:
        responses = model.response(requests)
    assert [response.text for response in responses] == [row.text for row in likeliest]
    assert not any(response.error for response in responses)


@pytest.mark.parametrize("scorer", ["careful", "official", "as_released"])
def test_no_answer_is_unread_by_any_reading_and_points_follow_the_letter(
    bench: Workbench, models: Models, ten: list[Question], scorer: str
):
    (task,) = bench.catalog.tasks_of("blink")
    predictions = predict(bench, models, "likelihood", ten)
    verdicts = pipeline.judge(task, ten, predictions, None)
    scores = pipeline.score(task, ten, predictions, verdicts, scorer)
    expected: list[Any] = [
        (float(q.answer == (p.text,)), (p.text,)) for q, p in zip(ten, predictions, strict=True)
    ]
    assert [(score.points, score.answer) for score in scores] == expected
    assert not any(score.no_answer for score in scores)
