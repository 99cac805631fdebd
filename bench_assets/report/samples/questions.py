"""Questions of the sample browser, in chunks, with one outcome letter per question and model."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa

CHUNK = 400
"""Questions per data file of texts, or of one model's responses."""
RUN = 20 * CHUNK
"""Questions in memory, with their responses, while the report is built."""

_SHORT = 160  # characters of a question's text, in the list
_MANY = 200  # distinct values of a label with a filter, at most
_LONG = 60  # characters; labels with longer values get no filter

Columns = Mapping[str, Sequence[Any]]


class SampleList:
    """Columns that the list of samples shows, searches and filters; encoded as JSON when added.

    ``ids`` and shortened ``texts`` by question; ``kinds``, ``categories``, ``groups`` and each of
    ``labels``, encoded by ``dictionary_encode``; distinct digests as ``images``, and each
    question's indices as ``shown``.
    """

    def __init__(self) -> None:
        self.images: dict[str, int] = {}  # digest -> number
        self._encoded: dict[str, list[bytes]] = {"ids": [], "texts": [], "shown": []}
        self._coded = {name: CodedColumn() for name in _CODED}
        self._labels = _Labels()

    def add(self, columns: Columns) -> None:
        """Add questions: columns of ``Question``."""
        image_indices = [
            [self.images.setdefault(digest, len(self.images)) for digest in images]
            for images in columns["images"]
        ]
        short_texts = [_shorten(text) for text in columns["text"]]
        lists = {"ids": columns["question_id"], "texts": short_texts, "shown": image_indices}
        for name, values in lists.items():
            if values:
                self._encoded[name].append(orjson.dumps(values)[1:-1])  # without brackets
        for name, column in _CODED.items():
            self._coded[name].add(columns[column])
        self._labels.add(columns["labels"])

    def data(self) -> dict[str, Any]:
        """Return all columns; afterwards nothing can be added."""
        encoded = {
            name: orjson.Fragment(b"[%s]" % b",".join(self._encoded.pop(name)))
            for name in list(self._encoded)
        }
        coded = {name: column.data() for name, column in self._coded.items()}
        return {**encoded, **coded, "labels": self._labels.data(), "images": list(self.images)}


def dictionary_encode(values: Sequence[Hashable]) -> dict[str, Any]:
    """Dictionary-encode values.

    >>> dictionary_encode(["b", "a", "b"])
    {'values': ['b', 'a'], 'codes': [0, 1, 0]}
    """
    numbers: dict[Hashable, int] = {}
    codes = [numbers.setdefault(value, len(numbers)) for value in values]
    return {"values": list(numbers), "codes": codes}


_CODED = {"kinds": "kind", "categories": "category", "groups": "group_id"}


class CodedColumn:
    """A column of texts, dictionary-encoded as by ``dictionary_encode`` and held compactly."""

    def __init__(self) -> None:
        self._arrays: list[pa.DictionaryArray] = []

    def add(self, values: Sequence[str]) -> None:
        """Add texts."""
        self.add_coded(dictionary_encode(values))

    def add_coded(self, encoded: Mapping[str, Sequence[Any]]) -> None:
        """Add texts that are already encoded."""
        codes = pa.array(encoded["codes"], pa.int32())
        values = pa.array(encoded["values"], pa.string())
        self._arrays.append(pa.DictionaryArray.from_arrays(codes, values))

    def data(self) -> dict[str, Any]:
        """The distinct texts as JSON, and the codes of all rows."""
        if not self._arrays:
            return {"values": [], "codes": []}
        arrays = pa.chunked_array(self._arrays).unify_dictionaries().chunks
        values = orjson.Fragment(orjson.dumps(arrays[0].dictionary.to_pylist()))
        return {
            "values": values,
            "codes": np.concatenate([array.indices.to_numpy() for array in arrays]),
        }


def texts(columns: Columns) -> Iterator[list[dict[str, Any]]]:
    """Yield the texts of the questions, in chunks; without empty ones, except answers."""
    names = ("text", "context", "options", "answer", "image_texts", "labels")
    chunk: list[dict[str, Any]] = []
    for values in zip(*(columns[name] for name in names), strict=True):
        row = dict(zip(names, values, strict=True))
        chunk.append({name: value for name, value in row.items() if value or name == "answer"})
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


class _Labels:
    """Labels to filter by: those with at least two distinct values, but few and short ones."""

    def __init__(self) -> None:
        self._n = 0  # questions added
        self._columns: dict[str, CodedColumn] = {}
        self._values: dict[str, set[str]] = {}
        self._unfit = set[str]()

    def add(self, labels: Sequence[Sequence[tuple[str, str]]]) -> None:
        """Add the labels of further questions; drops a label with many or long values."""
        label_rows = [dict(pairs) for pairs in labels]
        names = {name for row in label_rows for name in row}
        for name in names.union(self._columns) - self._unfit:
            values = [row.get(name, "") for row in label_rows]
            is_missing_before = self._n > 0 and name not in self._columns
            distinct = self._values.setdefault(name, {""} if is_missing_before else set())
            distinct.update(values)
            if len(distinct) > _MANY or max(map(len, distinct)) > _LONG:
                self._unfit.add(name)
                self._columns.pop(name, None)
                continue
            if name not in self._columns:
                self._columns[name] = CodedColumn()
                self._columns[name].add([""] * self._n)
            self._columns[name].add(values)
        self._n += len(label_rows)

    def data(self) -> dict[str, Any]:
        names = sorted(name for name in self._columns if len(self._values[name]) > 1)
        return {name: self._columns[name].data() for name in names}


def _shorten(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: 2 * _SHORT].split())
    return line if len(line) <= _SHORT else f"{line[: _SHORT - 1]}…"


ABSENT = "-"  # not asked, or not in the tables
FAILED = "e"  # no response, or a failed request to the judge
UNSCORED = "u"
NO_ANSWER = "n"  # cut off, or no answer at all
REFUSED = "x"  # permanently, by the provider; counted as wrong
NOTHING_TO_GAIN = "o"  # max_points is 0
RIGHT, PARTLY, WRONG = "r", "p", "w"
CUT_SHORT = "length"  # finish_reason of a response that reached its maximum length


class Sample(NamedTuple):
    """Outcome of one response: its score, and its finish."""

    row: int  # of the question
    points: float | None
    max_points: float
    no_answer: bool
    error: str
    finish_reason: str
    refused: str = ""
    unread: bool = False


class Outcomes(NamedTuple):
    """The outcome of every question for one model."""

    letters: str
    """One per question, in order; upper-case if a response was cut short at its maximum length."""
    shares: list[float]
    """Share of the points of each partly right question, in order."""
    unread: list[int]
    """Rows of questions with an unread response."""


def outcomes(n_questions: int, samples: Sequence[Sample]) -> Outcomes:
    """Outcome of each question; several samples count by their mean.

    >>> sample = Sample(
    ...     row=1, points=1.0, max_points=4.0, no_answer=False, error="", finish_reason="length"
    ... )
    >>> outcomes(2, [sample])
    Outcomes(letters='-P', shares=[0.25], unread=[])
    """
    samples_by_row: dict[int, list[Sample]] = {}
    for sample in samples:
        samples_by_row.setdefault(sample.row, []).append(sample)
    letters, shares, unread = [ABSENT] * n_questions, list[float](), list[int]()
    for row, row_samples in sorted(samples_by_row.items()):
        letters[row], share = _outcome(row_samples)
        if letters[row].lower() == PARTLY:
            shares.append(share)
        if any([sample.unread for sample in row_samples]):
            unread.append(row)
    return Outcomes(letters="".join(letters), shares=shares, unread=unread)


def joined_outcomes(runs: Sequence[Outcomes]) -> Outcomes:
    """Concatenate the outcomes of runs of questions.

    >>> first = Outcomes(letters="rp", shares=[0.5], unread=[])
    >>> joined_outcomes([first, Outcomes(letters="-w", shares=[], unread=[1])])
    Outcomes(letters='rp-w', shares=[0.5], unread=[3])
    """
    begins = accumulate((len(run.letters) for run in runs), initial=0)
    return Outcomes(
        letters="".join(run.letters for run in runs),
        shares=[share for run in runs for share in run.shares],
        unread=[
            begin + row for begin, run in zip(begins, runs, strict=False) for row in run.unread
        ],
    )


def samples_of(
    rows: Mapping[str, int],
    scores: Mapping[str, Sequence[Any]],
    finish_reasons: Mapping[tuple[str, int], str],
) -> list[Sample]:
    """Build samples from columns of ``Score``; scores of other questions are left out.

    ``rows`` are indices of questions by id; ``finish_reasons`` are by question and sample.
    """
    names = ("question_id", "sample", "points", "max_points", "no_answer", "error")
    score_rows = zip(*(scores[name] for name in (*names, "refused", "unread")), strict=True)
    return [
        Sample(
            row=rows[question],
            points=points,
            max_points=max_points,
            no_answer=no_answer,
            error=error,
            finish_reason=finish_reasons.get((question, sample), ""),
            refused=refused,
            unread=unread,
        )
        for question, sample, points, max_points, no_answer, error, refused, unread in score_rows
        if question in rows
    ]


def _outcome(samples: Sequence[Sample]) -> tuple[str, float]:
    """Outcome letter of a question, upper-case if a response was cut short; share of its points."""
    letter, share = _outcome_by_points(samples)
    if any([sample.finish_reason == CUT_SHORT for sample in samples]):
        letter = letter.upper()
    return letter, share


def _outcome_by_points(samples: Sequence[Sample]) -> tuple[str, float]:
    """Outcome letter of a question, and its share of the points."""
    if any([sample.error for sample in samples]):
        return FAILED, 0.0
    max_points = sum([sample.max_points for sample in samples])
    if not max_points:
        return NOTHING_TO_GAIN, 0.0
    points = [sample.points for sample in samples if sample.points is not None]
    if len(points) < len(samples):
        return UNSCORED, 0.0
    if all([sample.no_answer for sample in samples]):
        is_refused = all([sample.refused for sample in samples])
        return REFUSED if is_refused else NO_ANSWER, 0.0
    share = sum(points) / max_points
    if share >= 1.0:
        return RIGHT, 1.0
    return (PARTLY, round(share, 4)) if share > 0.0 else (WRONG, 0.0)
