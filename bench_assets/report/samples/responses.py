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

_DIGITS = 16  # hexadecimal digits of a digest


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
        self._by_chunk = defaultdict[int, set[str]](set)

    def add(self, number: int, prompt: str | None) -> None:
        """Add the SHA-256 of a prompt, with the number of its question."""
        if prompt:
            self._by_chunk[number // CHUNK].add(prompt)

    def chunks(self, find: FindPrompts) -> Iterator[PromptChunk]:
        """Yield the known prompts for each chunk of questions."""
        for number, prompts in sorted(self._by_chunk.items()):
            turns_by_name = {}
            for sha256, text in sorted(find(sorted(prompts)).items()):
                if turns := _parse_turns(text):
                    turns_by_name[short_name(sha256)] = turns
            if turns_by_name:
                images = list(dict.fromkeys(_image_digests(turns_by_name.values())))
                yield PromptChunk(number, turns_by_name, images)


def _parse_turns(text: str) -> Any:  # noqa: ANN401
    """Parse the turns of a prompt; None if they are not valid JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _image_digests(prompts: Collection[Any]) -> Iterator[str]:
    for turns in prompts:
        for _, parts in turns:
            yield from (part["image"] for part in parts if isinstance(part, dict))


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
    objects = _SampleObjects(predictions, scores, judgements, find_span)
    indices = _indices_by_key(predictions["question_id"])
    for first in range(0, len(ids), CHUNK):
        long_texts: list[SampleResponses] = []
        chunk = []
        for row, question in enumerate(ids[first : first + CHUNK], start=begin + first):
            question_indices = indices.get(question, ())
            chunk.append([objects.build(index, row, long_texts) for index in question_indices])
        yield SampleResponses(f"responses-{(begin + first) // CHUNK}", chunk)
        yield from long_texts


class _SampleObjects:
    """Builds the object of each response, with its score and the verdicts of its judge."""

    def __init__(
        self, predictions: Columns, scores: Columns, judgements: Columns | None, find_span: FindSpan
    ) -> None:
        self._predictions, self._scores, self._find_span = predictions, scores, find_span
        self._score_indices = _indices_by_key(_keys(scores))
        self._judgement_indices = _indices_by_key(_keys(judgements)) if judgements else {}
        texts = zip(predictions["text"], predictions["raw_text"], strict=True)
        raw_texts = ["" if raw_text == text else raw_text for text, raw_text in texts]
        sent_with = [decoding for _, decoding in map(split_model_part, predictions["decoding"])]
        changed = {"raw_text": raw_texts, "decoding": sent_with}
        self._response_columns = _named_columns({**predictions, **changed}, _RESPONSE)
        unread = [is_unread or None for is_unread in scores["unread"]]  # no field if read
        self._score_columns = _named_columns({**scores, "unread": unread}, _SCORED)
        self._verdict_columns = _named_columns(judgements, _JUDGED) if judgements else []

    def build(self, index: int, row: int, long_texts: list[SampleResponses]) -> dict[str, Any]:
        """Build the object of a response to the question in ``row``; adds to ``long_texts``."""
        question, sample = (self._predictions[name][index] for name in ("question_id", "sample"))
        name, key = f"whole-{row}-{sample}", (question, sample)
        response = _object(self._response_columns, index, name, long_texts)
        for score_index in self._score_indices.get(key, ()):
            response |= _object(self._score_columns, score_index, name, long_texts)
            if span := self._span(index, score_index):
                response["span"] = span
        if judgement_indices := self._judgement_indices.get(key):
            response["verdicts"] = [
                _object(self._verdict_columns, judgement_index, f"{name}-{n}", long_texts)
                for n, judgement_index in enumerate(judgement_indices)
            ]
        return response

    def _span(self, index: int, score_index: int) -> list[int] | None:
        """Evidence of the answer in a response, in UTF-16 code units; None if there is none."""
        answer = StoredAnswer(*(self._scores[name][score_index] for name in StoredAnswer._fields))
        names = ("question_id", "text", "decoding")
        question, text, decoding = (self._predictions[name][index] for name in names)
        span = self._find_span(question, text, decoding, answer)
        return _code_units(text, span) if span else None


def _code_units(text: str, span: tuple[int, int]) -> list[int]:
    """A span of a text in UTF-16 code units, by which the page counts.

    >>> _code_units("\N{GRINNING FACE} (B)", (3, 4))
    [4, 5]
    """
    return [len(text[:end].encode("utf-16-le", "surrogatepass")) // 2 for end in span]


def _object(
    columns: Sequence[tuple[str, Sequence[Any]]],
    index: int,
    name: str,
    long_texts: list[SampleResponses],
) -> dict[str, Any]:
    """Build the row at ``index`` without empty fields; long texts are cut.

    Their whole texts are added to ``long_texts``, with names that begin with ``name``.
    """
    fields = {}
    for field, values in columns:
        value = values[index]
        if value is None or value in ("", []):
            continue
        if field == "prompt":
            value = short_name(value)
        if isinstance(value, str) and len(value) > LONGEST:
            value = _cut_text(value, f"{name}-{field}", long_texts)
        elif isinstance(value, list):
            value = [
                _cut_text(text, f"{name}-{field}-{n}", long_texts) if len(text) > LONGEST else text
                for n, text in enumerate(value)
            ]
        fields[field] = value
    return fields


def _cut_text(text: str, name: str, long_texts: list[SampleResponses]) -> list[str | int]:
    """Add a text to ``long_texts``; returns its beginning, length and name."""
    name = name.replace("_", "-")  # as in all names of data files
    long_texts.append(SampleResponses(name, text))
    return [text[:LONGEST], len(text), name]


def _named_columns(columns: Columns, names: Mapping[str, str]) -> list[tuple[str, Sequence[Any]]]:
    """Columns under the page's names, without entirely empty ones."""
    named_columns = [(name, columns[column]) for name, column in names.items()]
    return [
        (name, values)
        for name, values in named_columns
        if any(value not in (None, "") for value in values)
    ]


def _keys(columns: Columns) -> Iterator[Key]:
    return zip(columns["question_id"], columns["sample"], strict=True)


def _indices_by_key(keys: Iterator[Key] | Sequence[str]) -> dict[Any, list[int]]:
    indices: dict[Any, list[int]] = {}
    for index, key in enumerate(keys):
        indices.setdefault(key, []).append(index)
    return indices
