"""Rows with the questions they are about, whether all of them are held or made when looked at."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Generic, TypeAlias, TypeVar, overload

from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score
from bench_assets.core.tables.large_tables import LargeTable, at, column

Row = TypeVar("Row", Prediction, Judgement, Score)
Pair = TypeVar("Pair")
Identity: TypeAlias = tuple[str, str, str, int]  # question, model, condition, draw


def places_in(questions: Sequence[Question], rows: Sequence[Row]) -> Sequence[int]:
    """For each row, the place of its question.

    Raises:
        KeyError: If there is no such question.
    """
    if isinstance(questions, LargeTable) or isinstance(rows, LargeTable):
        found = _side_by_side(questions, rows)
        if len(found) == len(rows):
            return found
    index = {name: place for place, name in enumerate(column(questions, "question_id"))}
    return array("I", (index[name] for name in column(rows, "question_id")))


def joined(
    questions: Sequence[Question],
    rows: Sequence[Row],
    make: Callable[[Question, Row], Pair],
    places: Sequence[int] | None = None,
) -> Sequence[Pair]:
    """Each row with its question; ``places`` where they are known.

    Raises:
        KeyError: If there is no such question.
    """
    places = places_in(questions, rows) if places is None else places
    if not isinstance(questions, LargeTable) and not isinstance(rows, LargeTable):
        return [make(questions[place], row) for place, row in zip(places, rows, strict=True)]
    if isinstance(questions, LargeTable) and any(a > b for a, b in pairwise(places)):
        questions, places = questions.in_order(places), range(len(rows))
    return LazyPairs(questions, rows, make, places)


def some(pairs: Sequence[Pair], places: Sequence[int]) -> Sequence[Pair]:
    """The pairs at these places, which ascend."""
    if isinstance(pairs, LazyPairs):
        return pairs.at(places)
    return [pairs[place] for place in places]


class LazyPairs(Sequence[Pair], Generic[Row, Pair]):
    """Pairs that are made while they are gone through."""

    def __init__(
        self,
        questions: Sequence[Question],
        rows: Sequence[Row],
        make: Callable[[Question, Row], Pair],
        places: Sequence[int],
        chosen: Sequence[int] | None = None,
    ) -> None:
        """Say what belongs together.

        Args:
            questions: All of them.
            rows: About them.
            make: Makes a pair.
            places: For each row, the place of its question; ascending.
            chosen: Which rows; None: all.
        """
        self._questions, self._places = questions, places
        self._rows: Sequence[Row] = rows
        self._make: Callable[[Question, Row], Pair] = make
        self._chosen = range(len(rows)) if chosen is None else chosen

    def __len__(self) -> int:
        """How many pairs."""
        return len(self._chosen)

    def __iter__(self) -> Iterator[Pair]:
        """Make the pairs, a block at a time."""
        asked = at(self._questions, (self._places[place] for place in self._chosen))
        return map(self._make, asked, at(self._rows, self._chosen))

    @overload
    def __getitem__(self, place: int) -> Pair: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Pair]: ...
    def __getitem__(self, place: int | slice) -> Pair | Sequence[Pair]:
        """Make one of them, or choose some."""
        chosen = self._chosen[place]
        if isinstance(chosen, int):
            return self._make(self._questions[self._places[chosen]], self._rows[chosen])
        return self._choosing(chosen)

    def at(self, places: Iterable[int]) -> "LazyPairs[Row, Pair]":
        """Choose those at these places, which ascend."""
        return self._choosing(array("I", (self._chosen[place] for place in places)))

    def _choosing(self, chosen: Sequence[int]) -> "LazyPairs[Row, Pair]":
        return LazyPairs(self._questions, self._rows, self._make, self._places, chosen)


def _side_by_side(questions: Sequence[Question], rows: Sequence[Row]) -> "array[int]":
    """The places of rows that come in the order of the questions; cut short at the first other."""
    found, place, current = array("I"), -1, None
    asked = column(questions, "question_id")
    for name in column(rows, "question_id"):
        while current != name:
            place += 1
            current = next(asked, None)
            if current is None:
                return found
        found.append(place)
    return found


def verdicts(
    predictions: Sequence[Prediction], judgements: Sequence[Judgement]
) -> Iterator[Sequence[Judgement]]:
    """For each prediction the judgements on it, in their order."""
    if isinstance(judgements, LargeTable) and _follow(predictions, judgements):
        yield from _following(predictions, judgements)
        return
    found: dict[Identity, list[Judgement]] = defaultdict(list)
    for verdict in judgements:
        found[_identity(verdict)].append(verdict)
    for identity in _identities(predictions):
        yield found.get(identity, [])


def _follow(predictions: Sequence[Prediction], judgements: Sequence[Judgement]) -> bool:
    """Whether judgements come in the order of the predictions that they are on."""
    rest = _identities(predictions)
    return all(one in rest for one, _ in groupby(_identities(judgements)))


def _following(
    predictions: Sequence[Prediction], judgements: Sequence[Judgement]
) -> Iterator[Sequence[Judgement]]:
    groups = groupby(judgements, _identity)
    of, about = next(groups, (None, iter(())))
    for identity in _identities(predictions):
        if identity == of:
            yield list(about)
            of, about = next(groups, (None, iter(())))
        else:
            yield []


def _identities(rows: Sequence[Prediction] | Sequence[Judgement]) -> Iterator[Identity]:
    names = ("question_id", "model", "condition", "sample")
    return zip(*(column(rows, name) for name in names), strict=True)


def _identity(row: Judgement) -> Identity:
    return row.question_id, row.model, row.condition, row.sample
