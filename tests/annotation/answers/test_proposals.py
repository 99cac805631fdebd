"""A model fills tasks in before people come."""

import pytest

from bench_assets.annotation.answers.proposals import propose, read_proposal, to_prompt
from bench_assets.annotation.tasks import AnnotationTask, Field, Unit
from bench_assets.core.schema.chat import Image, Request
from bench_resources.models.registry.baselines import ScriptedModel

FORM = AnnotationTask(
    name="t/look",
    title="Look",
    instructions="Look at the image.",
    fields=(
        Field(name="unusual", kind="choice", label="Unusual?", choices=("yes", "no")),
        Field(name="things", kind="texts", label="What is there?", required=False),
        Field(name="where", kind="points", label="Where?"),
    ),
)
IMAGE = "ab" * 32


def _units(n: int) -> list[Unit]:
    return [Unit(task="t/look", unit_id=f"p{i}", images={"Image": IMAGE}) for i in range(n)]


def _clerk(*responses: str) -> tuple[ScriptedModel, list[Request]]:
    """A model that says one thing after another, and what it was asked."""
    requests: list[Request] = []

    def say(request: Request) -> str:
        requests.append(request)
        return responses[len(requests) - 1]

    return ScriptedModel("clerk", say), requests


@pytest.mark.parametrize(
    ("response", "filled"),
    [
        (
            '{"unusual": "yes", "things": ["a cat", "a hat"]}',
            {"unusual": ("yes",), "things": ("a cat", "a hat")},
        ),
        ('{"unusual": true, "things": []}', {"unusual": ("yes",)}),
        ('Well:\n```json\n{"unusual": "no"}\n```', {"unusual": ("no",)}),
        ('{"unusual": "perhaps"}', {}),
        ('{"things": ["a cat"]}', {}),
        ('{"unusual": "yes", "where": ["0.5 0.5"]}', {}),
        ('{"unusual": "yes"} {"unusual": "no"}', {}),
        ("yes", {}),
        ("", {}),
    ],
)
def test_a_response_is_taken_whole_or_not_at_all(response: str, filled: object) -> None:
    assert read_proposal(response, FORM, _units(1)[0]) == filled


def test_a_model_gets_the_fields_that_people_get_but_those_that_need_hands() -> None:
    prompt = to_prompt(FORM, _units(1)[0])
    (turn,) = prompt.turns
    assert Image(IMAGE) in turn.parts
    text = str(turn.parts[-1])
    assert '"unusual": Unusual? One of ["yes", "no"].' in text
    assert "where" not in text


def test_what_a_model_fills_in_is_named_and_leaves_the_digest_as_it_is() -> None:
    (unit,) = _units(1)
    (filled,) = propose(FORM, [unit], _clerk('{"unusual": "yes"}')[0])
    assert (filled.proposal, filled.proposed_by) == ({"unusual": ("yes",)}, "clerk")
    assert filled.digest == unit.digest


def test_an_unreadable_proposal_is_requested_twice_and_then_left_empty() -> None:
    clerk, requests = _clerk("dunno", "dunno", "dunno")
    (left,) = propose(FORM, _units(1), clerk)
    assert len(requests) == 2
    assert (left.proposal, left.proposed_by) == ({}, "")


def test_a_share_of_the_items_is_left_for_people_alone() -> None:
    units = _units(400)
    clerk, requests = _clerk(*(['{"unusual": "yes"}'] * 800))
    filled = propose(FORM, units, clerk, unproposed=0.25)
    shown = [unit for unit in filled if unit.proposal]
    assert 260 < len(shown) < 340  # 300 are expected; three standard deviations are 26
    assert len(requests) == 400  # a hidden proposal is made too: people are held against it
    hidden = [unit for unit in filled if not unit.proposal]
    assert {(one.proposed_by, *one.withheld["unusual"]) for one in hidden} == {("", "yes")}
    assert filled == propose(FORM, units, clerk, unproposed=0.25)
