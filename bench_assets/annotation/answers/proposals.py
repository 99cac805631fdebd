"""Model pre-annotations, with a share of units shown without them to measure anchoring.

Those tell how far people follow it (``quality``). Never for votes that measure agreement with the
same model.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from bench_assets.annotation.answers.validation import misfits
from bench_assets.annotation.tasks.forms import Field, Form, Unit, Values
from bench_assets.core.judging.verdict_requests import Call, ask
from bench_assets.core.judging.verdicts import read_object
from bench_assets.core.schema.chat import ChatModel, Image, Prompt, Request, Response

_COMPLAINT = "Reply with one JSON object that has the fields asked for, and nothing else."
_NOT_BY_MODELS = ("points", "image")


def propose(
    form: Form, items: Sequence[Unit], model: ChatModel, unproposed: float = 0.0
) -> list[Unit]:
    """Fill items in by a model; one that it gives no answer to that fits is left empty.

    Args:
        form: What is asked of each.
        items: Attention checks among them are left as they are.
        model: Looks at them first.
        unproposed: Share of items, drawn by their ids, of which nobody is shown what it said.

    Raises:
        ModelError: If the model cannot be asked at all.
    """
    asked = [item for item in items if not item.gold]
    prompts = [to_prompt(form, item) for item in asked]
    calls = [
        Call(Request(prompt=prompt, name=f"{form.name}/{item.item_id}"), _unread(form, item))
        for item, prompt in zip(asked, prompts, strict=True)
    ]
    heard = ask(calls, model, _COMPLAINT)
    found = {
        item.item_id: read_proposal(said.response.text, form, item)
        for item, said in zip(asked, heard, strict=True)
    }
    return [_filled(item, found.get(item.item_id, {}), model.name, unproposed) for item in items]


def to_prompt(form: Form, item: Unit) -> Prompt:
    """Ask a model what a person is asked, for one JSON object with the fields."""
    fields = [_told(field, item) for field in form.fields if field.kind not in _NOT_BY_MODELS]
    shown = [f"{name}: {text}" for name, text in item.shown.items()]
    images = [part for name, sha in item.images.items() for part in (f"{name}:", Image(sha))]
    wanted = "Reply with one JSON object with these fields:"
    return Prompt.of(
        "\n\n".join([form.title, form.instructions]),
        *images,
        "\n".join([*shown, "", wanted, *fields]),
    )


def read_proposal(response: str, form: Form, item: Unit) -> Values:
    """Read what a model filled in; nothing unless all of it fits the form.

    >>> field = Field(name="right", kind="choice", label="Right?", choices=("yes", "no"))
    >>> form = Form(name="t/v", title="", instructions="", fields=(field,))
    >>> read_proposal('{"right": "yes"}', form, Unit(form="t/v", item_id="1"))
    {'right': ('yes',)}
    >>> read_proposal('{"right": "perhaps"}', form, Unit(form="t/v", item_id="1"))
    {}
    """
    found = read_object(response)
    values = {name: _texts(value) for name, value in (found or {}).items()}
    filled = {name: texts for name, texts in values.items() if texts}
    by_people = [field for field in form.fields if field.kind in _NOT_BY_MODELS]
    asked = replace(form, fields=tuple(one for one in form.fields if one not in by_people))
    return {} if misfits(filled, asked, item.choices) else filled


def _filled(item: Unit, said: Values, model: str, unproposed: float) -> Unit:
    if not said:
        return item
    if _share(item.item_id) < unproposed:
        return replace(item, withheld=said)
    return replace(item, proposal=said, proposed_by=model)


def _unread(form: Form, item: Unit) -> Callable[[Response], int]:
    return lambda response: int(not read_proposal(response.text, form, item))


def _told(field: Field, item: Unit) -> str:
    choices = item.choices.get(field.name, field.choices)
    among = f" One of {json.dumps(choices, ensure_ascii=False)}." if choices else ""
    several = " A list." if field.kind in ("choices", "texts") else ""
    optional = "" if field.required else " May be left out."
    return f'- "{field.name}": {field.label}{among}{several}{optional}'


def _texts(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    words = {True: "yes", False: "no", None: ""}
    said = [words[one] if one is None or isinstance(one, bool) else str(one) for one in values]
    return tuple(text for text in said if text.strip())


def _share(item_id: str) -> float:
    """Where an item falls between 0 and 1, by its id alone."""
    digest = hashlib.sha256(f"unproposed {item_id}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:6]) / 2**48
