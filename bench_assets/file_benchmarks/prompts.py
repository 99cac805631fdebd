"""Prompts of file benchmarks: the file's own or a default."""

import re
from string import Formatter, ascii_uppercase

from bench_assets.core.parsing.choices import lettered
from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import AnswerKind, Question

FIELDS = frozenset({"question", "options", "context", "category", *ascii_uppercase[:8]})
"""What a template may name besides the file's other columns."""

_PLACED = re.compile(r"<image(?: ?([1-9]\d?))?>")
_SHORT: dict[AnswerKind, str] = {
    "choice": "Answer with the letter of the right option.",
    "choices": "Answer with the letters of all right options.",
    "text": "Answer with a single word, a number or a short phrase.",
}
NO_VERDICT = 'That is not what was asked for. Print "right" or "wrong", and nothing else.'
"""Complaint about an unreadable verdict."""

_JUDGE = (
    "You are shown a question, its right answer and a reply. Say whether the reply gives the right "
    "answer, in whatever words. A reply that gives none, or several, is wrong.\n\n"
    "Question: {question}\n{options}Right answer: {answer}\nReply: {response}\n\n"
    'Print one word, "right" or "wrong".'
)


def fields_of(template: str) -> list[str]:
    """Names of the columns that a template uses.

    Raises:
        SettingsError: If a brace is not closed, or a column has no name.

    >>> fields_of("{question} ({level}) {{}}")
    ['question', 'level']
    """
    try:
        found = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
    except ValueError as why:
        raise SettingsError(f"prompt {template!r:.80}: {why}; write {{{{ for a brace") from why
    if "" in found:
        raise SettingsError(f"prompt {template!r:.80}: name a column between the braces")
    return found


def main(question: Question, template: str = "") -> Prompt:
    """Build the prompt: images replace ``<image>`` or ``<image 2>``; untagged ones come first.

    A tag without an image stays as text.
    """
    text = _filled(template, question) if template else _usual(question)
    parts: list[str | Image] = []
    left, end = dict(enumerate(question.images, 1)), 0
    for nth, mark in enumerate(_PLACED.finditer(text), 1):
        number = int(mark[1] or nth)
        if number <= len(question.images):
            parts += [text[end : mark.start()], Image(question.images[number - 1])]
            left.pop(number, None)
            end = mark.end()
    parts.append(text[end:])
    said = [part if isinstance(part, Image) else part.strip(" ") for part in parts]
    return Prompt.of(*map(Image, left.values()), *(part for part in said if part))


def no_image(question: Question, template: str = "") -> Prompt:
    """Build the prompt without the images."""
    return main(question, template).without_images()


def judge(question: Question, response: str) -> Prompt:
    """Build the judge's prompt for a verdict on a response."""
    if question.kind == "text":
        answer = " or ".join(question.answer)
    else:
        places = [ascii_uppercase.index(letter) for letter in question.answer]
        answer = " and ".join(f"({ascii_uppercase[n]}) {question.options[n]}" for n in places)
    options = f"{lettered(question.options)}\n" if question.options else ""
    return Prompt.of(
        _JUDGE.format(question=question.text, options=options, answer=answer, response=response)
    )


def _usual(question: Question) -> str:
    options = f"\n{lettered(question.options)}" if question.options else ""
    context = f"{question.context}\n\n" if question.context else ""
    return f"{context}{question.text}{options}\n\n{_SHORT[question.kind]}"


def _filled(template: str, question: Question) -> str:
    """Fill the columns into a template; empty columns leave nothing."""
    columns = dict.fromkeys(fields_of(template), "") | dict(question.labels)
    columns |= dict(zip(ascii_uppercase, question.options, strict=False))
    columns |= {
        "question": question.text,
        "options": lettered(question.options),
        "context": question.context,
        "category": question.category,
    }
    filled = (
        f"{said}{columns[name] if name is not None else ''}"
        for said, name, _, _ in Formatter().parse(template)
    )
    return "".join(filled)
