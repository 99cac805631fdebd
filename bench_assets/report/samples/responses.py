"""Prompts and responses of the sample browser: parsed, judged and scored."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from bench_assets.comparison.causes import split_model_part
from bench_assets.evaluation.evidence import StoredAnswer
from bench_assets.report.samples.questions import CHUNK, Columns

FindPrompts: TypeAlias = Callable[[Collection[str]], Mapping[str, str]]
"""Finds the turns of sent prompts as JSON, by SHA-256; omits unknown ones."""

_DIGITS = 16  # of a digest


def short_name(sha256: str) -> str:
    """Name of a prompt within its chunk."""
    return sha256[:_DIGITS]


class PromptChunk(NamedTuple):
    """The prompts for a chunk of questions."""

    number: int
    turns: dict[str, Any]  # by ``short_name``: role and parts of each turn, images as digests
    images: list[str]


class SentPrompts:
    """The prompts sent for each chunk of questions."""

    def __init__(self) -> None:
        """Start empty."""
        self._by_chunk = defaultdict[int, set[str]](set)

    def add(self, number: int, prompt: str | None) -> None:
        """Add the SHA-256 of a prompt, with the number of its question."""
        if prompt:
            self._by_chunk[number // CHUNK].add(prompt)

    def chunks(self, find: FindPrompts) -> Iterator[PromptChunk]:
        """Yield the known prompts for each chunk of questions."""
        for number, prompts in sorted(self._by_chunk.items()):
            texts = find(sorted(prompts))
            read = {short_name(sha256): _turns(text) for sha256, text in sorted(texts.items())}
            if turns := {name: chunk for name, chunk in read.items() if chunk}:
                yield PromptChunk(number, turns, list(dict.fromkeys(_images(turns.values()))))


def _turns(text: str) -> Any:  # noqa: ANN401
    """Parse the turns of a prompt; None if they are not valid JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _images(prompts: Collection[Any]) -> Iterator[str]:
    parts = (part for turns in prompts for _, parts in turns for part in parts)
    return (part["image"] for part in parts if isinstance(part, dict))


LONGEST = 4000
"""Most characters of a text within a chunk; longer texts are in files of their own."""

Key: TypeAlias = tuple[str, int]
"""A question's id, and the number of the sample."""

FindSpan: TypeAlias = Callable[[str, str, str, StoredAnswer], tuple[int, int] | None]
"""Finds the evidence of an answer by a question's id, a response, its decoding and its score."""

PREDICTION = (
    *("question_id", "sample", "text", "raw_text", "ranking", "finish_reason", "prompt_tokens"),
    *("completion_tokens", "seconds", "note", "served", "no_answer", "error", "prompt_sha256"),
    "decoding",
)
SCORE = (
    *("question_id", "sample", "points", "max_points", "answer", "note", "judge", "scorer"),
    *("no_answer", "error", "refused", "unread", "named", "asked_again"),
)
JUDGEMENT = (
    *("question_id", "sample", "judge", "criterion", "verdict", "value", "response", "error"),
    "prompt_sha256",
)
_RESPONSE = {  # name on the page -> column
    **{"text": "text", "raw": "raw_text", "ranking": "ranking", "end": "finish_reason"},
    **{"asked": "note", "no_answer": "no_answer", "error": "error", "seconds": "seconds"},
    **{"tokens": "completion_tokens", "asked_tokens": "prompt_tokens", "served": "served"},
    **{"prompt": "prompt_sha256", "sent_with": "decoding"},
}
_SCORED = {
    **{"points": "points", "most": "max_points", "answer": "answer", "why": "note"},
    **{"judge": "judge", "scorer": "scorer", "unread": "unread"},
}
_JUDGED = {name.removesuffix("_sha256"): name for name in JUDGEMENT[2:]}


class SampleResponses(NamedTuple):
    """A data file: a chunk of responses, or one long text."""

    name: str  # "responses-3", or "whole-1204-0-text": of question 1204, sample 0
    value: Any


def finish_reasons(predictions: Columns) -> dict[Key, str]:
    """``finish_reason`` of each response."""
    keys = zip(predictions["question_id"], predictions["sample"], strict=True)
    return dict(zip(keys, predictions["finish_reason"], strict=True))


def responses(
    ids: Sequence[str],
    predictions: Columns,
    scores: Columns,
    judgements: Columns | None,
    begin: int = 0,
    find_span: FindSpan = lambda *_: None,
) -> Iterator[SampleResponses]:
    """Yield the responses to each question, in chunks; long texts separately.

    Args:
        ids: Ids of questions, in the order of the list.
        predictions: Columns ``PREDICTION`` of ``Prediction``.
        scores: Columns ``SCORE`` of ``Score``.
        judgements: Columns ``JUDGEMENT`` of ``Judgement``; None without a judge.
        begin: Row of the first question; a multiple of ``CHUNK``.
        find_span: Finds the evidence of a stored answer, see ``find_evidence``.

    Yields:
        Chunks with a list per question, of one object per sample, without empty fields. A text over
        ``LONGEST`` is ``[beginning, length, name of the whole]``.
    """
    predicted = _places(predictions["question_id"])
    scored = _places(_keys(scores))
    judged = _places(_keys(judgements)) if judgements else {}
    pairs = zip(predictions["text"], predictions["raw_text"], strict=True)
    thoughts = ["" if raw == text else raw for text, raw in pairs]
    sent_with = [split_model_part(decoding)[1] for decoding in predictions["decoding"]]
    shown = {**predictions, "raw_text": thoughts, "decoding": sent_with}
    prediction_columns = _columns(shown, _RESPONSE)
    points = _columns({**scores, "unread": [score or None for score in scores["unread"]]}, _SCORED)
    verdict = _columns(judgements, _JUDGED) if judgements else []
    for first in range(0, len(ids), CHUNK):
        long: list[SampleResponses] = []
        chunk = []
        for row, question in enumerate(ids[first : first + CHUNK], start=begin + first):
            of_one = []
            for at in predicted.get(question, ()):
                sample = predictions["sample"][at]
                key, name = (question, sample), f"whole-{row}-{sample}"
                response = _object(prediction_columns, at, name, long)
                for position in scored.get(key, ()):
                    response |= _object(points, position, name, long)
                    stored = StoredAnswer(
                        *(scores[column][position] for column in StoredAnswer._fields)
                    )
                    text, decoding = predictions["text"][at], predictions["decoding"][at]
                    if span := find_span(question, text, decoding, stored):
                        response["span"] = _code_units(text, span)
                if places := judged.get(key):
                    response["verdicts"] = _objects(verdict, places, name, long)
                of_one.append(response)
            chunk.append(of_one)
        yield SampleResponses(f"responses-{(begin + first) // CHUNK}", chunk)
        yield from long


def _code_units(text: str, span: tuple[int, int]) -> list[int]:
    """A span of a text in UTF-16 code units, by which the page counts.

    >>> _code_units("\N{GRINNING FACE} (B)", (3, 4))
    [4, 5]
    """
    return [len(text[:end].encode("utf-16-le", "surrogatepass")) // 2 for end in span]


def _objects(
    columns: Sequence[tuple[str, Sequence[Any]]],
    places: Sequence[int],
    name: str,
    long: list[SampleResponses],
) -> list[dict[str, Any]]:
    return [_object(columns, at, f"{name}-{n}", long) for n, at in enumerate(places)]


def _object(
    columns: Sequence[tuple[str, Sequence[Any]]], at: int, name: str, long: list[SampleResponses]
) -> dict[str, Any]:
    """Build one row without empty fields; long texts are cut, and added to ``long``."""
    fields = {}
    for field, values in columns:
        value = values[at]
        if value is None or value in ("", []):
            continue
        if field == "prompt":
            value = short_name(value)
        if isinstance(value, str) and len(value) > LONGEST:
            value = _cut(value, f"{name}-{field}", long)
        elif isinstance(value, list):
            value = [
                _cut(text, f"{name}-{field}-{number}", long) if len(text) > LONGEST else text
                for number, text in enumerate(value)
            ]
        fields[field] = value
    return fields


def _cut(text: str, name: str, long: list[SampleResponses]) -> list[str | int]:
    name = name.replace("_", "-")
    long.append(SampleResponses(name, text))
    return [text[:LONGEST], len(text), name]


def _columns(columns: Columns, names: Mapping[str, str]) -> list[tuple[str, Sequence[Any]]]:
    """Columns under the page's names, without entirely empty ones."""
    present = [(name, columns[column]) for name, column in names.items()]
    return [column for column in present if any(value not in (None, "") for value in column[1])]


def _keys(columns: Columns) -> Iterator[Key]:
    return zip(columns["question_id"], columns["sample"], strict=True)


def _places(keys: Iterator[Key] | Sequence[str]) -> dict[Any, list[int]]:
    """All positions of each key."""
    places: dict[Any, list[int]] = {}
    for at, key in enumerate(keys):
        places.setdefault(key, []).append(at)
    return places
