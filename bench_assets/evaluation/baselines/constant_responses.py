"""Candidates for the best constant response: letters, frequent answers and composed texts."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations, pairwise
from statistics import median
from string import ascii_uppercase

from bench_assets.core.schema.rows import Question

STOCK_RESPONSES = (
    "Yes.",
    "No.",
    "There is no such thing in the image.",
    "It cannot be determined from the image.",
    "The image shows a person standing in front of a building.",
    "A group of people are in a room with a table and chairs.",
    "A man is standing in a room.",
    "A close up of an object on a table.",
)
"""Candidates for questions with a free-text answer."""

_MAX_FREQUENT = 8  # most frequent right answers that are tried
_MAX_PER_SLICE = 2  # most frequent right answers of a slice that are tried
_WORDS = 20  # length of a list of frequent words or answers
_MAX_SET_OPTIONS = 4  # options, up to which every set of letters is tried
_MIN_SENTENCE_WORDS = 4.0  # words of the median answer, from which on texts are composed
_MAX_CENTRAL = 4  # central answers that are tried, by each count
_MAX_ENUMERATED = 100  # distinct answers, up to which every one is tried
_MAX_SCORED = 500_000  # responses to score at most; large question tables get fewer constants
_MIN_CONSTANTS = 24  # constants that are tried in any case
_FUNCTION_WORDS = (
    "a an and are as at be by for from has have he her his i in is it its of on or she that the "
    "their there they this to was were while who with"
)
_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())


def constant_responses(
    questions: Sequence[Question], slices: Callable[[Question], Sequence[str]]
) -> list[str]:
    """List candidates for the best constant response, the most promising first.

    Letters and sets of letters of the options, answers that are right more than once, overall and
    in a slice, the most frequent answers as one list, ``composed_texts``, and ``STOCK_RESPONSES``.
    If each question has options, frequent answers are enough: a stock sentence names none of the
    options.
    """
    lettered = [len(q.options) for q in questions if q.kind in ("choice", "choices")]
    several = [len(q.options) for q in questions if q.kind == "choices"]
    constants = [
        *ascii_uppercase[: max(lettered, default=0)],
        *_letter_sets(max(several, default=0)),
    ]
    constants += _frequent(questions, slices)
    if len(lettered) < len(questions):
        texts = [text for q in questions if q.kind == "text" for text in q.answer]
        stock = () if constants and all(q.options for q in questions) else STOCK_RESPONSES
        constants += [*stock, *_frequent_list(texts), *composed_texts(texts)]
    return list(dict.fromkeys(constants))[: max_constants(len(questions))]


def max_constants(n_questions: int) -> int:
    """Maximum number of constant responses that are tried on this many questions."""
    return max(_MIN_CONSTANTS, _MAX_SCORED // max(1, n_questions))


def composed_texts(texts: Sequence[str]) -> list[str]:
    """Compose texts that overlap with many answers, if answers are sentences.

    Lists of the most frequent words, the sentence that the most frequent three-word sequences
    form, and the answers that share most words and pairs of words with the others; all answers if
    there are few.
    """
    split = [re.findall(r"\w+", text.casefold()) for text in texts]
    if not split or median(map(len, split)) < _MIN_SENTENCE_WORDS:
        return []
    counts = Counter(word for words in split for word in dict.fromkeys(words))
    frequent = [word for word, _ in counts.most_common() if word not in _STOP_WORDS]
    longest = max(map(len, split))
    lists = [", ".join(frequent[:n]) for n in dict.fromkeys((_WORDS, longest))]
    distinct = list(dict.fromkeys(texts))
    answers = distinct if len(distinct) <= _MAX_ENUMERATED else _central(texts, split)
    return [*lists, _markov_sentence(split), *answers]


def _letter_sets(n_options: int) -> list[str]:
    letters = ascii_uppercase[:n_options]
    sizes = range(2, n_options + 1) if n_options <= _MAX_SET_OPTIONS else [n_options]
    return ["".join(combination) for size in sizes for combination in combinations(letters, size)]


def _frequent(
    questions: Sequence[Question], slices: Callable[[Question], Sequence[str]]
) -> Iterator[str]:
    """Right answers that occur more than once, overall and in each slice; blanks also mixed."""
    overall = Counter[str]()
    of_slice: dict[str, Counter[str]] = defaultdict(Counter)
    blanks: dict[int, list[Counter[str]]] = defaultdict(list)
    for question in questions:
        texts = list(dict.fromkeys(_right(question)))
        overall.update(texts)
        for name in slices(question):
            of_slice[name].update(texts)
        if question.kind == "blanks":
            slots = blanks[len(question.answer)] or [Counter() for _ in question.answer]
            blanks[len(question.answer)] = slots
            for slot, text in zip(slots, question.answer, strict=True):
                slot[text] += 1
    counted = [(overall, _MAX_FREQUENT), *((text, _MAX_PER_SLICE) for text in of_slice.values())]
    for counts, most in counted:
        yield from (text for text, times in counts.most_common(most) if times > 1)
    for slots in blanks.values():
        yield "\n".join(slot.most_common(1)[0][0] for slot in slots)


def _right(question: Question) -> Iterable[str]:
    """The right answer, as a response."""
    match question.kind:
        case "text":
            return question.answer
        case "choices":
            return ["".join(question.answer)]
        case "blanks":
            return ["\n".join(question.answer)]
        case _:
            return ()  # letters are always tried, and no response is a ranking


def _frequent_list(texts: Sequence[str]) -> list[str]:
    """The most frequent short answers as one list, for scorers that look for a mention."""
    counts = Counter(text for text in texts if len(text.split()) < _MIN_SENTENCE_WORDS)
    return [", ".join(text for text, _ in counts.most_common(_WORDS))] if len(counts) > 1 else []


def _markov_sentence(split: Sequence[Sequence[str]]) -> str:
    """Follow the most frequent continuation of the last two words, to the median length."""
    after: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for words in split:
        padded = ["", "", *words]
        for (first, second), following in zip(pairwise(padded), padded[2:], strict=False):
            after[first, second][following] += 1
    sentence = ["", ""]
    while len(sentence) < 2 + median(map(len, split)) and (
        next_words := after[sentence[-2], sentence[-1]]
    ):
        word = next_words.most_common(1)[0][0]
        next_words[word] = 0  # so that no sequence repeats
        sentence.append(word)
    return " ".join(sentence[2:])


def _central(texts: Sequence[str], split: Sequence[Sequence[str]]) -> Iterator[str]:
    """The first answer, and those whose words and pairs of words are frequent."""
    yield texts[0]
    pairs = [{" ".join(pair) for pair in pairwise(words)} for words in split]
    for parts in (list(map(set, split)), pairs):
        often = Counter(chain.from_iterable(parts))
        sums = [sum(often[part] for part in token_share) for token_share in parts]
        means = [total / max(1, len(part)) for total, part in zip(sums, parts, strict=True)]
        for of in (sums, means):
            yield from (
                texts[n] for n in sorted(range(len(texts)), key=lambda n: -of[n])[:_MAX_CENTRAL]
            )
