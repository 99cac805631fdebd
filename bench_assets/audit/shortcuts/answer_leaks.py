"""Answer leaks: the right answer in the question, in an image's name or in its metadata."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from string import ascii_uppercase
from typing import NamedTuple, TypeVar

from bench_assets.audit.framework.evidence import Evidence
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
)
from bench_assets.audit.framework.significance import FALSE_POSITIVE_RATE, compare_with_chance
from bench_assets.audit.framework.text_normalization import (
    contains,
    content_words,
    count_occurrences,
    count_phrase,
    key_index,
    question_words,
    right_texts,
)
from bench_assets.core.schema.rows import Question
from bench_assets.core.stats.clusters import cluster_questions

_IMAGE_SUFFIX = re.compile(r"\.(?:jpe?g|png|gif|webp|bmp|tiff?|avif)$", re.IGNORECASE)
_IMAGE_LABELS = ("image", "images", "file", "file_name")
"""Labels of questions that may be names of images."""
_ANSWER_IS = re.compile(
    r"(?:answer|solution|key|答案|解答)\s*(?:is|was|=|:|：|为|是)+\s*[\"'“(（]*(?P<answer>[^\"'”)）\n]+)",
    re.IGNORECASE,
)
_ALTERNATIVES = re.compile(r"\bor\b|[^\W\d]/[^\W\d]|或|还是", re.IGNORECASE)
_MIN_ANSWER_WORDS = 3  # words of an answer; a shorter one may occur in a question by accident


_Row = TypeVar("_Row")


class Mention(NamedTuple):
    """A text that mentions one option of a question more often than all others."""

    question: Question
    is_right: bool
    chance: float  # that the mentioned option is right by chance
    text: str


@audit_check("answer_in_question", "Do any questions contain their answer?")
def answer_in_question(evidence: Evidence) -> AuditFinding:
    """Find questions that mention the right option most, state the answer or contain it."""
    questions = evidence.questions
    if not questions:
        raise SkippedCheckError("there are no questions")
    words_by_question = {question.question_id: question_words(question) for question in questions}
    mentions: list[Mention] = []
    plain_leaks: list[Suspect] = []
    for question in questions:
        words = words_by_question[question.question_id]
        text = f"{question.text}\n{question.context}".strip()
        mentions += _find_mention(question, words, text)
        if stated := _stated_answer(question, text):
            reason = f"says that {stated!r} is the answer"
            plain_leaks.append(Suspect(question.question_id, reason, weight=2.0))
    plain_leaks += _contained_answers(questions, words_by_question)
    return _finding(mentions, plain_leaks, len(questions), "the question")


@audit_check("file_names", "Do names of images reveal the answer?")
def file_names(evidence: Evidence) -> AuditFinding:
    """Find the right answer in the names of a question's images."""
    names = _image_names(evidence.questions, evidence.image_names)
    if not names:
        raise SkippedCheckError("no image has a name")
    words_by_name = {
        name: _name_words(name) for question_names in names.values() for name in question_names
    }
    named = [question for question in evidence.questions if question.question_id in names]
    mentions: list[Mention] = []
    plain_leaks: list[Suspect] = []
    for question in named:
        for name in names[question.question_id]:
            mentions += _find_mention(question, words_by_name[name], name)
            mentions += _find_letter(question, name)
            if stated := _stated_answer(question, name):
                reason = f"the name of an image says that {stated!r} is the answer"
                plain_leaks.append(Suspect(question.question_id, reason, weight=2.0))
    plain_leaks += _names_with_answers(named, names, words_by_name)
    return _finding(mentions, plain_leaks, len(named), "the name of an image")


def _finding(
    mentions: Sequence[Mention], plain_leaks: Sequence[Suspect], n: int, source: str
) -> AuditFinding:
    """Suspect plain leaks and, if mentioned options are right too often, the right mentions."""
    clusters = cluster_questions([mention.question for mention in mentions])
    rate = compare_with_chance(
        [float(mention.is_right) for mention in mentions],
        [mention.chance for mention in mentions],
        [clusters[mention.question.question_id] for mention in mentions],
    )
    suspects = {leak.about: leak for leak in plain_leaks}
    if rate.p < FALSE_POSITIVE_RATE:
        for mention in mentions:
            if mention.is_right:
                question_id = mention.question.question_id
                reason = f"only the right option is in {mention.text!r:.120}"
                suspects.setdefault(question_id, Suspect(question_id, reason))
    counted = f" Mentions of one option more than of others: {rate.n}; {rate}." if rate.n else ""
    sentence = (
        f"{count_phrase(len(suspects), 'question')} given away, of {n}, by {source}.{counted}"
    )
    return AuditFinding(sentence=sentence, n=n, suspects=list(suspects.values()))


def _find_mention(question: Question, words: Sequence[str], text: str) -> Iterator[Mention]:
    """Find the option that a text mentions most; if several may be right, the set of options.

    Yields nothing if the text mentions none or all, or several of which one may be right.
    """
    counts = count_occurrences(words, [content_words(option) for option in question.options])
    most, n_options = max(counts, default=0), len(counts)
    mentioned = [index for index, count in enumerate(counts) if count == most]
    if not most or len(mentioned) == n_options:
        return
    if question.kind == "choices":
        letters = ascii_uppercase[:n_options]
        right = [index for index, letter in enumerate(letters) if letter in question.answer]
        is_right, chance = mentioned == right, 1 / (2**n_options - 1)
    elif key_index(question) >= 0 and len(mentioned) == 1:
        is_right, chance = mentioned[0] == key_index(question), 1 / n_options
    else:
        return
    yield Mention(question=question, is_right=is_right, chance=chance, text=text)


def _find_letter(question: Question, name: str) -> Iterator[Mention]:
    """Find the option whose letter alone is a part of a name: B in ``chart_B.png``."""
    key = key_index(question)
    if key < 0 or question.kind != "choice":
        return
    parts = re.split(r"[^0-9A-Za-z]+", PurePosixPath(name).stem)
    offered = [chr(ord("A") + index) for index in range(len(question.options))]
    letters = [part for part in parts if part in offered]
    if len(letters) == 1:
        is_right, chance = letters[0] == offered[key], 1 / len(offered)
        yield Mention(question=question, is_right=is_right, chance=chance, text=name)


def _stated_answer(question: Question, text: str) -> str:
    """Right answer that a text states ("the answer is ..."), not as one of several; else ""."""
    right = {content_words(key) for key in (*right_texts(question), *question.answer)} - {()}
    for match in _ANSWER_IS.finditer(text):
        stated = content_words(match["answer"])
        is_right = any(stated[: len(answer)] == answer for answer in right)
        if is_right and not _ALTERNATIVES.search(match["answer"]):
            return match["answer"].strip()
    return ""


def _contained_answers(
    questions: Sequence[Question], words_by_question: Mapping[str, Sequence[str]]
) -> Iterator[Suspect]:
    """Find questions without options that contain their answer word for word.

    Short answers count only if they occur more often than answers of other questions.
    """
    free = [
        question
        for question in questions
        if not question.options and question.kind in ("text", "blanks")
    ]
    words = [words_by_question[question.question_id] for question in free]
    answers = [{content_words(text) for text in question.answer} - {()} for question in free]
    own_lengths = [
        _longest_contained(text, phrases) for text, phrases in zip(words, answers, strict=True)
    ]
    n_accidents = sum(
        _longest_contained(text, phrases) > 0
        for text, phrases in zip(words, _rotate_by_half(answers), strict=True)
    )
    chance = (n_accidents + 1) / (len(free) + 2)  # smoothed, so that it is never 0
    rate = compare_with_chance([float(n > 0) for n in own_lengths], [chance] * len(free))
    for question, n in zip(free, own_lengths, strict=True):
        if n >= _MIN_ANSWER_WORDS or (n and rate.is_significant):
            reason = f"contains its answer: {question.text!r:.120}"
            yield Suspect(question.question_id, reason, weight=n)


def _rotate_by_half(rows: Sequence[_Row]) -> list[_Row]:
    """Rotate rows by half their number, so that each is paired with an unrelated one."""
    middle = len(rows) // 2
    return [*rows[middle:], *rows[:middle]]


def _longest_contained(words: Sequence[str], phrases: set[tuple[str, ...]]) -> int:
    """Number of words of the longest phrase that a text contains; 0 if none."""
    return max((len(phrase) for phrase in phrases if contains(words, phrase)), default=0)


def _image_names(
    questions: Sequence[Question], name_by_image: Mapping[str, str]
) -> dict[str, list[str]]:
    """File names of a question's images, by its id; questions without names are left out."""
    names_by_question: dict[str, list[str]] = {}
    for question in questions:
        names = [name_by_image.get(image, "") for image in question.images]
        labels = [question.labels.get(label, "") for label in _IMAGE_LABELS]
        names += [label for label in labels if _IMAGE_SUFFIX.search(label)]
        if any(names):
            names_by_question[question.question_id] = list(dict.fromkeys(filter(None, names)))
    return names_by_question


def _name_words(name: str) -> list[str]:
    """Words of a file name; ``MySmall_dog-2.png`` has four."""
    stem = _IMAGE_SUFFIX.sub("", name.replace("\\", "/"))
    separated = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", stem)
    return list(content_words(separated))


def _names_with_answers(
    questions: Sequence[Question],
    names: Mapping[str, Sequence[str]],
    words_by_name: Mapping[str, Sequence[str]],
) -> list[Suspect]:
    """Find the questions whose images' names contain an answer, if too many names do.

    Covers cases that ``_find_mention`` does not: answers without options, images of several
    questions. Names must contain their own answers more often than those of a name half a table
    away.
    """
    answers: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    question_ids: dict[str, list[str]] = defaultdict(list)
    offered: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for question in questions:
        for name in names[question.question_id]:
            answers[name] |= {content_words(right) for right in right_texts(question)} - {()}
            offered[name] |= {content_words(option) for option in question.options}
            question_ids[name].append(question.question_id)
    # If an option is wrong for all questions of a name, `_find_mention` is the better test.
    tested = [name for name in answers if offered[name] <= answers[name]]
    is_hit = [_longest_contained(words_by_name[name], answers[name]) > 0 for name in tested]
    n_accidents = sum(
        _longest_contained(words_by_name[name], answers[other_name]) > 0
        for name, other_name in zip(tested, _rotate_by_half(tested), strict=True)
    )
    chance = (n_accidents + 1) / (len(tested) + 2)
    rate = compare_with_chance([float(hit) for hit in is_hit], [chance] * len(tested))
    if not rate.is_significant:
        return []
    return [
        Suspect(question_id, f"its answer is in the name of an image, {name:.120}")
        for name, hit in zip(tested, is_hit, strict=True)
        if hit
        for question_id in question_ids[name]
    ]
