"""Model pre-annotations, with a share of units shown without them to measure anchoring.

Never used for votes that measure agreement with the same model.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from bench_assets.annotation.answers.validation import find_misfits
from bench_assets.annotation.tasks import MARK_KINDS, AnnotationTask, Field, Unit, Values
from bench_assets.core.judging.verdict_requests import JudgeCall, call_judge
from bench_assets.core.reading.json_values import read_json
from bench_assets.core.schema.chat import ChatModel, Image, Prompt, Request, Response

_COMPLAINT = "Reply with one JSON object that has the fields asked for, and nothing else."
_HUMAN_ONLY_KINDS = (*MARK_KINDS, "image")


def propose(
    task: AnnotationTask, units: Sequence[Unit], model: ChatModel, unproposed: float = 0.0
) -> list[Unit]:
    """Pre-annotate units by a model; units without a valid answer stay empty.

    Args:
        task: The annotation task.
        units: The units; attention checks among them stay unchanged.
        model: The model.
        unproposed: Share of units, sampled by id, that are shown without a proposal.

    Raises:
        ModelError: If the model cannot be asked.
    """
    requested = [unit for unit in units if not unit.gold]
    prompts = [to_prompt(task, unit) for unit in requested]
    calls = [
        JudgeCall(
            Request(prompt=prompt, name=f"{task.name}/{unit.unit_id}"),
            _count_unreadable(task, unit),
        )
        for unit, prompt in zip(requested, prompts, strict=True)
    ]
    results = call_judge(calls, model, _COMPLAINT)
    proposals = {
        unit.unit_id: read_proposal(result.response.text, task, unit)
        for unit, result in zip(requested, results, strict=True)
    }
    return [
        _with_proposal(unit, proposals.get(unit.unit_id, {}), model.name, unproposed)
        for unit in units
    ]


def to_prompt(task: AnnotationTask, unit: Unit) -> Prompt:
    """Prompt a model for a proposal: one JSON object with the unit's fields."""
    fields = [
        _describe_field(field, unit) for field in task.fields if field.kind not in _HUMAN_ONLY_KINDS
    ]
    lines = [f"{name}: {text}" for name, text in unit.shown.items()]
    images = [part for name, sha in unit.images.items() for part in (f"{name}:", Image(sha))]
    wanted = "Reply with one JSON object with these fields:"
    return Prompt.of(
        "\n\n".join([task.title, task.instructions]),
        *images,
        "\n".join([*lines, "", wanted, *fields]),
    )


def read_proposal(response: str, task: AnnotationTask, unit: Unit) -> Values:
    """Parse a model's proposal; nothing unless all of it fits the task.

    >>> field = Field(name="right", kind="choice", label="Right?", choices=("yes", "no"))
    >>> task = AnnotationTask(name="t/v", title="", instructions="", fields=(field,))
    >>> read_proposal('{"right": "yes"}', task, Unit(task="t/v", unit_id="1"))
    {'right': ('yes',)}
    >>> read_proposal('{"right": "perhaps"}', task, Unit(task="t/v", unit_id="1"))
    {}
    """
    field_texts = read_json(response)
    fields = field_texts if isinstance(field_texts, dict) else {}
    values = {name: _texts(value) for name, value in fields.items()}
    filled = {name: texts for name, texts in values.items() if texts}
    by_people = [field for field in task.fields if field.kind in _HUMAN_ONLY_KINDS]
    model_task = replace(
        task, fields=tuple(field for field in task.fields if field not in by_people)
    )
    return {} if find_misfits(filled, model_task, unit.choices) else filled


def _with_proposal(unit: Unit, values: Values, model: str, unproposed: float) -> Unit:
    if not values:
        return unit
    if _share(unit.unit_id) < unproposed:
        return replace(unit, withheld=values)
    return replace(unit, proposal=values, proposed_by=model)


def _count_unreadable(task: AnnotationTask, unit: Unit) -> Callable[[Response], int]:
    return lambda response: int(not read_proposal(response.text, task, unit))


def _describe_field(field: Field, unit: Unit) -> str:
    choices = unit.choices.get(field.name, field.choices)
    among = f" One of {json.dumps(choices, ensure_ascii=False)}." if choices else ""
    several = " A list." if field.kind in ("choices", "texts") else ""
    optional = "" if field.required else " May be left out."
    return f'- "{field.name}": {field.label}{among}{several}{optional}'


def _texts(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    words = {True: "yes", False: "no", None: ""}
    texts = [
        words[value] if value is None or isinstance(value, bool) else str(value) for value in values
    ]
    return tuple(text for text in texts if text.strip())


def _share(unit_id: str) -> float:
    """Position of a unit between 0 and 1, by its id alone."""
    digest = hashlib.sha256(f"unproposed {unit_id}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:6]) / 2**48
