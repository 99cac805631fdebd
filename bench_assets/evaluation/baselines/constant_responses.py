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

_MAX_FREQUENT = 8  # right answers that are tried, the most frequent ones
_MAX_PER_SLICE = 2  # right answers of a slice that are tried, the most frequent ones
_LIST_LENGTH = 20  # length of a list of frequent words or answers
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
    """List up to ``max_constants`` candidates for the best constant response, the likeliest first.

    Letters and sets of letters of the options, answers that are right more than once, overall and
    in a slice, and each blank's most frequent entry. If some questions have no letters, also short
    frequent answers as one list, ``composed_texts``, and ``STOCK_RESPONSES`` unless each question
    has options and another candidate was found.
    """
    n_options = [len(q.options) for q in questions if q.kind in ("choice", "choices")]
    n_options_of_sets = [len(q.options) for q in questions if q.kind == "choices"]
    constants = [
        *ascii_uppercase[: max(n_options, default=0)],
        *_letter_sets(max(n_options_of_sets, default=0)),
    ]
    constants += _frequent_answers(questions, slices)
    if len(n_options) < len(questions):
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
    words_by_text = [re.findall(r"\w+", text.casefold()) for text in texts]
    lengths = [len(words) for words in words_by_text]
    if not texts or median(lengths) < _MIN_SENTENCE_WORDS:
        return []
    counts = Counter(word for words in words_by_text for word in dict.fromkeys(words))
    frequent = [word for word, _ in counts.most_common() if word not in _STOP_WORDS]
    lists = [", ".join(frequent[:n]) for n in dict.fromkeys((_LIST_LENGTH, max(lengths)))]
    distinct = list(dict.fromkeys(texts))
    answers = distinct if len(distinct) <= _MAX_ENUMERATED else _central(texts, words_by_text)
    return [*lists, _markov_sentence(words_by_text), *answers]


def _letter_sets(n_options: int) -> list[str]:
    """Sets of two or more letters, as responses; only that of all letters for many options."""
    letters = ascii_uppercase[:n_options]
    sizes = range(2, n_options + 1) if n_options <= _MAX_SET_OPTIONS else [n_options]
    return ["".join(combination) for size in sizes for combination in combinations(letters, size)]


def _frequent_answers(
    questions: Sequence[Question], slices: Callable[[Question], Sequence[str]]
) -> Iterator[str]:
    """Right answers that occur more than once, overall and in each slice; then mixed blanks."""
    counts = Counter[str]()
    counts_by_slice: dict[str, Counter[str]] = defaultdict(Counter)
    for question in questions:
        texts = list(dict.fromkeys(_right_responses(question)))
        counts.update(texts)
        for name in slices(question):
            counts_by_slice[name].update(texts)
    yield from _repeated(counts, _MAX_FREQUENT)
    for slice_counts in counts_by_slice.values():
        yield from _repeated(slice_counts, _MAX_PER_SLICE)
    yield from _mixed_blanks(questions)


def _repeated(counts: Counter[str], n: int) -> Iterator[str]:
    """Those of the n most frequent texts that occur more than once."""
    return (text for text, count in counts.most_common(n) if count > 1)


def _mixed_blanks(questions: Sequence[Question]) -> Iterator[str]:
    """The most frequent entry of each blank as one response, by number of blanks."""
    answers_by_size: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    for question in questions:
        if question.kind == "blanks":
            answers_by_size[len(question.answer)].append(question.answer)
    for answers in answers_by_size.values():
        counts_by_blank = map(Counter, zip(*answers, strict=True))
        yield "\n".join(max(counts, key=counts.__getitem__) for counts in counts_by_blank)


def _right_responses(question: Question) -> Iterable[str]:
    """Right answers, each as a response states it."""
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
    if len(counts) < 2:
        return []
    return [", ".join(text for text, _ in counts.most_common(_LIST_LENGTH))]


def _markov_sentence(words_by_text: Sequence[Sequence[str]]) -> str:
    """Follow the most frequent continuation of the last two words, to the median length."""
    continuations: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for words in words_by_text:
        first, second = "", ""
        for word in words:
            continuations[first, second][word] += 1
            first, second = second, word
    sentence: list[str] = []
    first, second = "", ""
    max_length = median(map(len, words_by_text))
    while len(sentence) < max_length and continuations[first, second]:
        counts = continuations[first, second]
        word = max(counts, key=counts.__getitem__)
        counts[word] = 0  # other continuations are preferred from now on
        sentence.append(word)
        first, second = second, word
    return " ".join(sentence)


def _central(texts: Sequence[str], words_by_text: Sequence[Sequence[str]]) -> Iterator[str]:
    """The first answer, then those whose words or pairs of words are the most frequent."""
    yield texts[0]
    word_sets = [set(words) for words in words_by_text]
    word_pairs = [{" ".join(pair) for pair in pairwise(words)} for words in words_by_text]
    for tokens_by_text in (word_sets, word_pairs):
        counts = Counter(chain.from_iterable(tokens_by_text))
        sums = [sum(counts[token] for token in tokens) for tokens in tokens_by_text]
        means = [
            total / max(1, len(tokens)) for total, tokens in zip(sums, tokens_by_text, strict=True)
        ]
        yield from _texts_with_most(sums, texts)
        yield from _texts_with_most(means, texts)


def _texts_with_most(values: Sequence[float], texts: Sequence[str]) -> Iterator[str]:
    order = sorted(range(len(texts)), key=lambda index: -values[index])
    return (texts[index] for index in order[:_MAX_CENTRAL])
