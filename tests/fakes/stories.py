from collections.abc import Sequence

from bench_assets.core.schema.chat import Request
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.cogbench.dataset.reasoning import KINDS
from bench_assets.suites.cogbench.dataset.source import Story, StoryChain
from bench_assets.suites.cogbench.description.questions import to_questions
from bench_resources.models.registry.baselines import ScriptedModel
from tests.fakes.rows import prediction, stored


def described(
    chains: dict[str, list[str]],
    *,
    image_id: str = "kite",
    entities: Sequence[str] = (),
    text: str = "",
) -> AnsweredQuestion:
    """An image with chains by code of their kind, and a model's description of it."""
    question = story_question(chains, image_id, entities)
    return AnsweredQuestion(question, prediction(question_id=question.question_id, text=text))


def story_question(
    chains: dict[str, list[str]],
    image_id: str = "kite",
    entities: Sequence[str] = (),
    description: str = "A story.",
) -> Question:
    """The question about an image with chains by code of their kind."""
    name = f"{image_id}.jpg"
    image = stored(name, "0")
    story = Story(image_id=image_id, image=name, entities=tuple(entities), description=description)
    rows = [
        StoryChain(image_id=image_id, kind=kind.name, number=number, text=text)
        for kind in KINDS
        for number, text in enumerate(chains.get(kind.code, ()), 1)
    ]
    (question,) = to_questions([story], rows, {name: image}, "mini")
    return question


def judge_saying(key_points: str, relationships: str = "") -> ScriptedModel:
    """A judge with one response about key points and one about event relationships."""

    def answer(request: Request) -> str:
        system = str(request.prompt.turns[0].parts[0])
        return relationships if "<EVENT RELATIONSHIP>" in system else key_points

    return ScriptedModel("judge", answer)
