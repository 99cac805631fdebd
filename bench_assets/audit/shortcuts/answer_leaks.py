"""Answer leaks: the right answer in the question, in an image's name or in its metadata."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from string import ascii_uppercase
from typing import NamedTuple

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
from bench_assets.core.schema.rows import Question, StoredImage
from bench_assets.core.stats.clusters import cluster_questions

_IMAGE = re.compile(r"\.(?:jpe?g|png|gif|webp|bmp|tiff?|avif)$", re.IGNORECASE)
_IMAGE_LABELS = ("image", "image", "images", "file", "file_name")
"""Labels of questions that may be names of images."""
_ANSWER_IS = re.compile(
    r"(?:answer|solution|key|答案|解答)\s*(?:is|was|=|:|：|为|是)+\s*[\"'“(（]*(?P<what>[^\"'”)）\n]+)",
    re.IGNORECASE,
)
_MIN_ANSWER_WORDS = 3  # words of an answer; a shorter one may occur in a question by accident


class Mention(NamedTuple):
    """A text that mentions one option of a question more often than all others."""

    question: Question
    is_right: bool
    chance: float  # that the mentioned option is right by chance
    about: str  # the text


@audit_check("answer_in_question", "Do any questions contain their answer?")
def answer_in_question(evidence: Evidence) -> AuditFinding:
    """Find the right answer, and no other option, in the question and its context."""
    questions = evidence.questions
    if not questions:
        raise SkippedCheckError("there are no questions")
    words_by_question = {question.question_id: question_words(question) for question in questions}
    plain = [
        Suspect(question.question_id, f"says that {stated!r} is the answer", 2.0)
        for question in questions
        for stated in [_stated_answer(question, f"{question.text}\n{question.context}")]
        if stated
    ]
    plain += list(_whole_answers(questions, words_by_question))
    mentions = [
        mention
        for q in questions
        for mention in _mention(q, words_by_question[q.question_id], q.text)
    ]
    return _finding(mentions, plain, len(questions), "the question")


@audit_check("file_names", "Do names of images reveal the answer?")
def file_names(evidence: Evidence) -> AuditFinding:
    """Find the right answer, and no other option, in the names of a question's images."""
    names = _names(evidence.questions, evidence.stored)
    if not names:
        raise SkippedCheckError("no image has a name")
    return leak_finding(evidence.questions, names, "the name of an image")


def leak_finding(
    questions: Sequence[Question], texts: Mapping[str, Sequence[str]], what: str
) -> AuditFinding:
    """Find answers in texts that belong to the images of questions, by question id."""
    with_texts = [question for question in questions if texts.get(question.question_id)]
    written = {text: _text_words(text) for every in texts.values() for text in every}
    mentions = [
        mention
        for question in with_texts
        for text in texts[question.question_id]
        for mention in (*_mention(question, written[text], text), *_letter(question, text))
    ]
    plain = [
        Suspect(question.question_id, f"{what} says that {stated!r} is the answer", 2.0)
        for question in with_texts
        for text in texts[question.question_id]
        for stated in [_stated_answer(question, text)]
        if stated
    ]
    plain += _texts_with_answers(with_texts, texts, written, what)
    return _finding(mentions, plain, len(with_texts), what)


def _finding(
    mentions: Sequence[Mention], plain: Sequence[Suspect], n: int, where: str
) -> AuditFinding:
    """Fail for a stated answer, or if the one mentioned option is right too often."""
    clusters = cluster_questions([mention.question for mention in mentions])
    best = compare_with_chance(
        [float(mention.is_right) for mention in mentions],
        [mention.chance for mention in mentions],
        [clusters[mention.question.question_id] for mention in mentions],
    )
    suspects = {leak.about: leak for leak in plain}
    for mention in mentions if best.p < FALSE_POSITIVE_RATE else ():
        if mention.is_right:
            reason = f"only the right option is in {mention.about!r:.120}"
            suspects.setdefault(
                mention.question.question_id, Suspect(mention.question.question_id, reason)
            )
    counted = f" One option is mentioned most {best.n} times: {best}." if best.n else ""
    sentence = f"{count_phrase(len(suspects), 'question')} given away, of {n}, by {where}.{counted}"
    return AuditFinding(sentence, n, list(suspects.values()))


def _mention(question: Question, text: Sequence[str], about: str) -> Iterator[Mention]:
    """The option that a text mentions most."""
    times = count_occurrences(text, [content_words(option) for option in question.options])
    most = max(times, default=0)
    indices = [n for n, often in enumerate(times) if often == most]
    key, offered = key_index(question), len(times)
    if not most or len(indices) == offered:
        return
    if question.kind == "choices":
        right = [
            n for n, letter in enumerate(ascii_uppercase[:offered]) if letter in question.answer
        ]
        yield Mention(question, indices == right, 1 / (2**offered - 1), about)
    elif key >= 0 and len(indices) == 1:
        yield Mention(question, indices[0] == key, 1 / offered, about)


def _letter(question: Question, name: str) -> Iterator[Mention]:
    """The option whose letter stands alone in a name: ``chart_B.png``."""
    key = key_index(question)
    if key < 0 or question.kind != "choice":
        return
    parts = re.split(r"[^0-9A-Za-z]+", PurePosixPath(name).stem)
    offered = [chr(ord("A") + n) for n in range(len(question.options))]
    letters = [part for part in parts if part in offered]
    if len(letters) == 1:
        is_right = letters[0] == offered[key]
        yield Mention(question, is_right, 1 / len(offered), name)


def _stated_answer(question: Question, text: str) -> str:
    """The stated answer of a text if it is right; else ""."""
    for match in _ANSWER_IS.finditer(text):
        stated = content_words(match["what"])
        right = {content_words(text) for text in (*right_texts(question), *question.answer)} - {()}
        if any(stated[: len(letter)] == letter for letter in right):
            return match["what"].strip()
    return ""


def _whole_answers(
    questions: Sequence[Question], words_by_question: Mapping[str, Sequence[str]]
) -> Iterator[Suspect]:
    """Find answers without options that occur in their question word for word.

    Short answers count only if they occur more often than answers of other questions.
    """
    free = [
        question
        for question in questions
        if not question.options and question.kind in ("text", "blanks")
    ]
    right = [{content_words(text) for text in question.answer} - {()} for question in free]
    own_lengths = [
        _longest_contained(words_by_question[q.question_id], texts)
        for q, texts in zip(free, right, strict=True)
    ]
    other_answers = [*right[len(right) // 2 :], *right[: len(right) // 2]]  # half a table away
    by_accident = [
        _longest_contained(words_by_question[q.question_id], texts)
        for q, texts in zip(free, other_answers, strict=True)
    ]
    n_short = sum(0 < n < _MIN_ANSWER_WORDS for n in own_lengths)
    n_accidents = sum(n > 0 for n in by_accident)
    chance = (n_accidents + 1) / (len(free) + 2)
    often = (
        compare_with_chance(
            [float(n > 0) for n in own_lengths], [chance] * len(free)
        ).is_significant
        and n_short
    )
    for question, n in zip(free, own_lengths, strict=True):
        if n >= _MIN_ANSWER_WORDS or (n and often):
            yield Suspect(question.question_id, f"contains its answer: {question.text!r:.120}", n)


def _longest_contained(text: Sequence[str], parts: set[tuple[str, ...]]) -> int:
    return max((len(part) for part in parts if contains(text, part)), default=0)


def _names(
    questions: Sequence[Question], stored: Mapping[str, StoredImage]
) -> dict[str, list[str]]:
    """Names of a question's images, by its id."""
    texts_by_name: dict[str, list[str]] = {}
    for question in questions:
        known = [stored[image].name for image in question.images if image in stored]
        names = [name for name in known if name]
        names += [
            value
            for label in _IMAGE_LABELS
            for value in [question.labels.get(label, "")]
            if _IMAGE.search(value)
        ]
        if names:
            texts_by_name[question.question_id] = list(dict.fromkeys(names))
    return texts_by_name


def _text_words(name: str) -> list[str]:
    """Words of a file name or other text; ``MySmall_dog-2.png`` has four."""
    stem = _IMAGE.sub("", name.replace("\\", "/"))
    separated = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", stem)
    return list(content_words(separated))


def _texts_with_answers(
    questions: Sequence[Question],
    texts: Mapping[str, Sequence[str]],
    written: Mapping[str, Sequence[str]],
    what: str,
) -> list[Suspect]:
    """Find texts that contain an answer to one of their questions, if too many do.

    Covers what ``_mention`` does not: answers without options, and texts with several questions.
    Texts must contain their own answers more often than those of a text half a table away.
    """
    answers: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    question_ids: dict[str, list[str]] = defaultdict(list)
    offered: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for one in questions:
        for text in texts[one.question_id]:
            answers[text] |= {content_words(right) for right in right_texts(one)} - {()}
            offered[text] |= {content_words(option) for option in one.options}
            question_ids[text].append(one.question_id)
    # If an option is wrong for all questions of a text, `_mention` is the better test.
    tested = [text for text in answers if offered[text] <= answers[text]]
    other_texts = [*tested[len(tested) // 2 :], *tested[: len(tested) // 2]]
    hits = [_longest_contained(written[text], answers[text]) > 0 for text in tested]
    accidents = sum(
        _longest_contained(written[text], answers[other_text]) > 0
        for text, other_text in zip(tested, other_texts, strict=True)
    )
    chance = (accidents + 1) / (len(tested) + 2)
    if not compare_with_chance([float(hit) for hit in hits], [chance] * len(tested)).is_significant:
        return []
    return [
        Suspect(question, f"its answer is in {what}, {text:.120}")
        for text, hit in zip(tested, hits, strict=True)
        if hit
        for question in question_ids[text]
    ]
