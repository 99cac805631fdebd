"""Likelihoods and options of the embedded model, against a forward pass of plain transformers."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import pytest

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.evaluation import pipeline
from bench_assets.workspace.materialization.workbench import Workbench
from resources.config.sections.models import EMBEDDED_MODELS
from resources.config.settings_resource import SettingsResource
from resources.images.store import open_image_store
from resources.models.registry.opening import Models

MODEL = "tiny-vlm/step-2300"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """A home with the questions of BLINK's mini edition."""
    home = str(tmp_path_factory.mktemp("home"))
    with Workbench(SettingsResource(home=home), ["blink"]) as opened:
        opened.refresh_questions("blink")
        yield opened


@pytest.fixture(scope="module")
def ten(bench: Workbench) -> list[Question]:
    """Ten questions with two to four options and one to four images."""
    (task,) = bench.catalog.tasks_of("blink")
    found = list(bench.questions(task))[::19][:10]
    assert {len(q.options) for q in found} == {2, 3, 4}
    assert len({len(q.images) for q in found}) > 1
    return found


@pytest.fixture(scope="module")
def models(bench: Workbench) -> Iterator[Models]:
    with bench.models() as opened:
        yield opened


class ByHand:
    """The checkpoint as transformers loads it, one sequence at a time, without padding."""

    def __init__(self, bench: Workbench) -> None:
        from transformers import AutoModelForImageTextToText, AutoProcessor

        place = EMBEDDED_MODELS[MODEL].place
        self.model = AutoModelForImageTextToText.from_pretrained(place, dtype="float32").eval()
        self.processor = AutoProcessor.from_pretrained(place)
        self.open = open_image_store(bench.settings).open

    def logprob(self, prompt: Prompt, option: str) -> float:
        """Log-probability of an option behind a prompt of one turn."""
        import torch

        content = [
            {"type": "image", "image": self.open(part.sha256)}
            if isinstance(part, Image)
            else {"type": "text", "text": part}
            for part in prompt.turns[0].parts
        ]
        inputs = self.processor.apply_chat_template(
            [{"role": "user", "content": content}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )
        n = inputs["input_ids"].shape[1]
        new = self.processor.tokenizer(option, add_special_tokens=False, return_tensors="pt")
        ids = torch.cat([inputs.pop("input_ids"), new["input_ids"]], dim=1)
        inputs["attention_mask"] = torch.ones_like(ids)
        with torch.inference_mode():
            logits = self.model(input_ids=ids, **inputs).logits[0].float()
        logprobs = torch.log_softmax(logits, dim=-1)
        return sum(float(logprobs[at - 1, ids[0, at]]) for at in range(n, ids.shape[1]))


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
        ("likelihood-brackets", lambda q: [f"({a})" for a in "ABCD"[: len(q.options)]], None),
        ("likelihood-texts", lambda q: q.options, lambda option: len(option.encode())),
        ("likelihood-texts-characters", lambda q: q.options, len),
    ],
)
def test_likelihoods_of_ten_questions_are_those_of_a_plain_forward_pass(
    bench: Workbench, models: Models, ten: list[Question], by_hand: ByHand, form
):
    (task,) = bench.catalog.tasks_of("blink")
    how, options, size = form
    for asked, said in zip(ten, predict(bench, models, how, ten), strict=True):
        prompt = task.condition("main").prompt(asked)
        expected = [
            by_hand.logprob(prompt, one) / (size(one) if size else 1) for one in options(asked)
        ]
        assert said.error == ""
        assert said.logprobs == pytest.approx(expected, abs=2e-4)
        assert said.text == "ABCD"[expected.index(max(expected))]


def test_the_prior_of_ten_questions_is_that_of_an_empty_prompt(
    bench: Workbench, models: Models, ten: list[Question], by_hand: ByHand
):
    (task,) = bench.catalog.tasks_of("blink")
    prior = {a: by_hand.logprob(Prompt.of(""), a) for a in "ABCD"}
    for asked, said in zip(
        ten, predict(bench, models, "likelihood-unconditional", ten), strict=True
    ):
        given = partial(by_hand.logprob, task.condition("main").prompt(asked))
        expected = [given(a) - prior[a] for a in "ABCD"[: len(asked.options)]]
        assert said.logprobs == pytest.approx(expected, abs=2e-4)


def test_the_letter_that_is_generated_under_constraint_is_the_likeliest(
    bench: Workbench, models: Models, ten: list[Question]
):
    likeliest = predict(bench, models, "likelihood", ten)
    chosen = predict(bench, models, "constrained", ten)
    assert [said.text for said in chosen] == [said.text for said in likeliest]
    assert not any(said.error for said in chosen)


@pytest.mark.parametrize("how", ["likelihood", "constrained"])
@pytest.mark.parametrize("reading", ["careful", "official", "as_released"])
def test_no_answer_is_unread_by_any_reading_and_points_follow_the_letter(
    bench: Workbench, models: Models, ten: list[Question], how: str, reading: str
):
    (task,) = bench.catalog.tasks_of("blink")
    said = predict(bench, models, how, ten)
    verdicts = pipeline.judge(task, ten, said, None)
    scores = pipeline.score(task, ten, said, verdicts, reading)
    expected: list[Any] = [
        (float(q.answer == (p.text,)), (p.text,)) for q, p in zip(ten, said, strict=True)
    ]
    assert [(score.points, score.answer) for score in scores] == expected
    assert not any(score.no_answer for score in scores)
