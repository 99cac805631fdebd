"""The published rules of benchmarks' authors, item by item, for numbers that equal theirs.

Our own metrics read more: "The answer is 23." is 23 for ``relaxed_match``, but not for ChartQA's
script. Each rule gives the points of a response, or None where the authors' script draws an answer
at random.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from string import ascii_uppercase
from typing import Literal, TypeAlias

from bench_assets.core.metrics.short_answers import (
    ANLS_THRESHOLD,
    VQA_ARTICLES,
    VQA_DIGITS,
    VQA_FULL_AGREEMENT,
    edit_distance,
)
from bench_assets.core.schema.rows import Question

OfficialRule: TypeAlias = Literal["chartqa", "docvqa", "mathvista", "mmmu", "mmstar", "vqa"]

_RELAXED = 0.05  # relative tolerance of ChartQA (section 5.1)


def chartqa(response: str, question: Question) -> float:
    """Relaxed accuracy: a number within 5 % of the first reference, or the same text.

    A percentage is a share of 1, and no other sign is ignored (pix2struct's ``metrics.py``).
    """
    reference = question.answer[0]
    value, truth = _share(response), _share(reference)
    if value is not None and truth:
        return float(abs(value - truth) / abs(truth) <= _RELAXED)
    return float(response.lower() == reference.lower())


def _share(text: str) -> float | None:
    """The number that a text is, a percentage as a share of 1; None if it is no number."""
    try:
        return float(text.rstrip("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return None


def docvqa(response: str, question: Question) -> float:
    """ANLS; case and repeated blanks are ignored in the distance, but count in the length."""
    points = 1 - min(_distance_share(response, reference) for reference in question.answer)
    return points if points >= ANLS_THRESHOLD else 0.0


def _distance_share(response: str, reference: str) -> float:
    """Edit distance as a share of the longer text."""
    longest = max(len(response.upper()), len(reference.upper()))  # as in the script: "ß" is "SS"
    response_text = " ".join(response.lower().split())
    reference_text = " ".join(reference.lower().split())
    return edit_distance(response_text, reference_text) / longest if longest else 0.0


_PUNCTUATION = ';/[]"{}()=+\\_-><@`,?!'
_DIGIT_COMMA = re.compile(r"\d,\d")
_FULL_STOP = re.compile(r"\.(?!\d)")
_MAX_STOPS = 32  # full stops that are removed at most, as in the authors' script
_CONTRACTIONS = (
    "ain't aren't can't could've couldn't couldn't've didn't doesn't don't hadn't hadn't've hasn't"
    " haven't he'd he'd've he's how'd how'll how's isn't it'd it'd've it'll ma'am mightn't"
    " mightn't've might've mustn't must've needn't not've o'clock oughtn't shan't she'd've"
    " should've shouldn't somebody'd've somebody'll somebody's someone'd someone'd've"
    " someone'll someone's something'd something'd've something'll that's there'd there'd've"
    " there're there's they'd"
    " they'd've they'll they're they've 'twas wasn't we'd've we've weren't what'll what're what's"
    " what've when's where'd where's where've who'd who'd've who'll who's who've why'll why're"
    " why's won't would've wouldn't wouldn't've y'all y'all'll y'all'd've you'd you'd've you'll"
    " you're you've"
)
_WITH_APOSTROPHE = {word.replace("'", ""): word for word in _CONTRACTIONS.split()}


def vqa(response: str, question: Question) -> float:
    """VQA accuracy; punctuation does not count, nor do the response's articles.

    Each of the references is left out in turn. If all are equal, texts are compared as they are.
    """
    answer = response.replace("\n", " ").replace("\t", " ").strip()
    references = list(question.answer)
    if len(set(references)) > 1:
        references = [_without_punctuation(reference) for reference in references]
        answer = _without_articles(_without_punctuation(answer))
    n_agreeing = references.count(answer)
    agreements = (n_agreeing - (reference == answer) for reference in references)
    return sum(min(1.0, n / VQA_FULL_AGREEMENT) for n in agreements) / len(references)


def _without_punctuation(text: str) -> str:
    """Drop full stops, and signs beside a blank or in a text with "1,000"; blank out others."""
    plain, has_digit_comma = text, bool(_DIGIT_COMMA.search(text))
    for sign in _PUNCTUATION:
        is_beside_blank = f"{sign} " in text or f" {sign}" in text
        plain = plain.replace(sign, "" if is_beside_blank or has_digit_comma else " ")
    return _FULL_STOP.sub("", plain, count=_MAX_STOPS)


def _without_articles(text: str) -> str:
    """Drop articles, write number words as digits, and add apostrophes that are missing."""
    words = (VQA_DIGITS.get(word, word) for word in text.lower().split())
    content_words = [word for word in words if word not in VQA_ARTICLES]
    return " ".join(_WITH_APOSTROPHE.get(word, word) for word in content_words)


_LONG = 5  # words; a longer response may name an option by its text
_EDGES = (",", ".", "!", "?", ";", ":", "'")
_KEY_WORDS = ("could be ", "so ", "is ", "thus ", "therefore ", "final ", "answer ", "result ")
_OPEN_NUMBERS = (
    re.compile(r"-?\b\d{1,3}(?:,\d{3})+\b"),
    re.compile(r"-?\d+(?:\.\d+)?[eE][+-]?\d+"),
    re.compile(r"-?(?:\d+\.\d+|\.\d+|\d+\b)(?![eE][+-]?\d+)(?![,\d])"),
)
_DECIMALS = 2  # decimals to which the script rounds numbers


def mmmu(response: str, question: Question) -> float | None:
    """MMMU: the option that is named last, in the first form found; open answers by ``read_open``.

    The script draws an option at random if none is named: None.
    """
    if question.kind == "text":
        return float(is_right_open(question.answer, read_open(response)))
    letter = _last_option(response, question.options)
    return None if letter is None else float((letter,) == question.answer)


def _last_option(response: str, options: Sequence[str]) -> str | None:
    """Letter of the option named last: in brackets, else bare, else by its text."""
    for edge in _EDGES:
        response = response.strip(edge)
    text = f" {response} "
    letters = ascii_uppercase[: len(options)]
    bracketed = [text.rfind(f"({letter})") for letter in letters]
    bare = [text.rfind(f" {letter} ") for letter in letters]
    positions_by_form = [bracketed, bare]
    if len(text.split()) > _LONG:
        lowered = text.lower()
        positions_by_form.append(
            [lowered.rfind(option.lower()) if option else -1 for option in options]
        )
    for positions in positions_by_form:
        if max(positions) >= 0:
            return letters[positions.index(max(positions))]
    return None


def read_open(response: str) -> list[str | float]:
    """The phrases and numbers that MMMU's script compares with the answer."""
    lowered = response.strip().strip(".").lower()
    lines = lowered.split("\n")
    phrases = []
    for index, line in enumerate(lines):
        is_last = index == len(lines) - 1
        key_words = (*_KEY_WORDS, "=") if is_last else _KEY_WORDS
        endings = [line.split(word)[-1].strip() for word in key_words if word in line]
        shortest = _shortest_ending(endings)
        if shortest and shortest not in _EDGES:
            phrases.append(shortest)
    phrases = phrases or [lowered]
    numbers = [
        number for phrase in phrases for form in _OPEN_NUMBERS for number in form.findall(phrase)
    ]
    return [value for text in (*phrases, *numbers) for value in _comparable(text)]


def _shortest_ending(endings: Sequence[str]) -> str:
    """The shortest ending; an empty one is replaced by the next."""
    shortest = ""
    for ending in endings:
        if not shortest or len(ending) < len(shortest):
            shortest = ending
    return shortest


def is_right_open(answers: Sequence[str], parsed: Sequence[str | float]) -> bool:
    """Whether a parsed number equals an answer, or a parsed phrase contains one."""
    expected = [value for answer in answers for value in _comparable(answer)]
    expected_texts = [value for value in expected if isinstance(value, str)]
    for value in parsed:
        if value in expected:
            return True
        if isinstance(value, str) and any(text in value for text in expected_texts):
            return True
    return False


def _comparable(text: str) -> list[str | float]:
    """The rounded number that a text is, else the text; a letter stands beside a blank."""
    text = text.strip()
    try:
        return [round(float(text.replace(",", "")), _DECIMALS)]
    except ValueError:
        lowered = text.lower()
        return [f" {lowered}", f"{lowered} "] if len(lowered) == 1 else [lowered]


_BRACKETED = re.compile(r"\(([a-zA-Z])\)")


def mathvista(response: str, question: Question) -> float:
    """MathVista: an extracted answer as an option, a whole number, or a rounded number.

    ``response`` is what was extracted from a response; the authors ask GPT-4 to do that.
    """
    if question.kind != "text":
        right_option = question.options[ascii_uppercase.index(question.answer[0])]
        return float(_nearest_option(response.strip(), question.options) == right_option)
    if question.answer[0].startswith("["):
        return float(_is_same_list(response, question.answer[0]))
    answer = question.answer[0].split(" ")[0]  # without its unit
    try:
        _, point, decimals = answer.partition(".")
        if point:
            return float(str(round(float(response), len(decimals))) == answer)
        return float(str(int(float(response))) == answer)
    except (ValueError, OverflowError):
        return float(response == answer)


def _is_same_list(response: str, answer: str) -> bool:
    try:
        return bool(json.loads(response) == json.loads(answer))
    except (ValueError, RecursionError):
        return response == answer


def _nearest_option(extracted: str, options: Sequence[str]) -> str:
    bracketed = _BRACKETED.findall(extracted)
    letter = bracketed[0].upper() if bracketed else extracted
    if len(letter) == 1 and letter in ascii_uppercase[: len(options)]:
        return options[ascii_uppercase.index(letter)]
    return min(options, key=lambda option: edit_distance(letter, option))


def mmstar(response: str, question: Question) -> float:
    """MMStar: the right letter begins the response, or follows one of three openings."""
    lowered = response.lower().strip().replace("\n", " ")
    openings = ("", "(", "option ", "the answer is ")
    return float(
        any(lowered.startswith(opening + question.answer[0].lower()) for opening in openings)
    )


OFFICIAL_RULES: Mapping[OfficialRule, Callable[[str, Question], float | None]] = {
    "chartqa": chartqa,
    "docvqa": docvqa,
    "mathvista": mathvista,
    "mmmu": mmmu,
    "mmstar": mmstar,
    "vqa": vqa,
}
"""Rules by the name of their benchmark."""
