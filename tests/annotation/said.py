"""Answers with everything filled in, so that a test names only what people said."""

from bench_assets.annotation.tasks.forms import Answer, Form, Unit


def answer(
    item: str, person: str = "ana", at: str = "2026-11-22T10:00:00.000Z", **values: object
) -> Answer:
    """What a person said of an item; a text stands for a list of one."""
    told = {k: (v,) if isinstance(v, str) else tuple(v) for k, v in values.items()}  # type: ignore[call-overload]
    return Answer(
        form="t/form",
        form_version="",
        item_id=item,
        item_digest="",
        person=person,
        values=told,
        at=at,
        changed_at=at,
        tool="files",
    )


def fits(form: Form, item: Unit, said: Answer) -> str:
    """Why an answer does not fit the form and the item; "" if it does."""
    from bench_assets.annotation.answers.validation import complaint_of

    return complaint_of(said, form, {item.item_id: item})
