"""Verdict parsers: a word, an option or a JSON object; None if undecidable.

"I have no idea." is not "no", "Yes, I can help!" is not "yes", and contradictions are undecidable.
The syntax of objects is parsed leniently, their values strictly.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from string import ascii_uppercase
from typing import Any, TypeVar

from bench_assets.core.parsing import normalization
from bench_assets.core.parsing.normalization import normalize_option, normalize_response
from bench_assets.core.parsing.reasoning import strip_reasoning
from bench_assets.core.parsing.sentences import hedges, refuses, split_sentences
from bench_assets.core.parsing.word_lists import alternatives
from bench_assets.core.schema.chat import Response

Verdict = TypeVar("Verdict")

YES_OR_NO: Mapping[str, bool] = {"yes": True, "no": False}
RIGHT_OR_WRONG: Mapping[str, bool] = {"right": True, "wrong": False}
NO_OPTION = "Z"
"""Letter of a judge for a response that chooses no option."""

_OUTER_CHARACTERS = " \t\r\n*_`'\"“”‘’«»「」『』【】()[]{}.!。！\ufeff\u200b"
_FENCED = "` \t\r\n"
_BOXED = "the answer is: "  # how ``plain`` rewrites a box
_MAX_RESPONSE_LENGTH = 50_000  # characters; longer responses are not searched for objects
_WORDS = Path(normalization.__file__).with_name("words.txt")
_UNUSED, _VERDICT_LETTERS = ascii_uppercase[:11], ascii_uppercase[11:13]
_MAX_VERDICT_WORDS = 3  # words of a sentence that says more than a verdict
_LEAD = 200  # characters before an object or a list that may say what it is

_LABEL = re.compile(r"[\s*_`'\"“”(\[]*([A-Za-z])(?![A-Za-z])[\s*_`'\"“”)\].:]*")
_FENCE = re.compile(r"```(?:json)?([^`]*)```", re.IGNORECASE)
_BRACE = re.compile(r"[{}]")
_PART = re.compile(r"[{}]|([\"'])(?:(?!\1)[^\\]|\\.)*+\1?", re.DOTALL)  # a brace, or a string
_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)'
    r"|'(?:[^'\\]|\\.)*+(?:'|\\?\Z)"
    r"|,(?=\s*[}\]])",
    re.DOTALL,
)
_JUDGED_OPTION_LETTER = re.compile(  # letters of the judged question's options
    r"\([A-M]\)|(?<![A-Za-z0-9])(?:[B-HJ-M]|[A-M]{2,})(?![A-Za-z0-9])"
    r"|(?<=[\u4e00-\u9fff“])A(?![A-Za-z])"
)
_NEITHER = re.compile(  # "neither right nor wrong", 对也不对
    r"\bneither\b.{1,20} nor\b.{1,20}$|不[对正]确?\W?也不错|[对确]\W?[也又](?:不对|错)",
    re.IGNORECASE | re.MULTILINE,
)
_FAILURE = re.compile(
    r"failed(?: to (?:get|find|choose|select|match|answer)"
    r"(?: (?:any|an?|the|multiple|choices?|options?|answers?|questions?)\b)*+)?",
    re.IGNORECASE,
)
_CONCLUSION_WORD = r"\W{0,9}(?:so|therefore|thus|hence)\b,? "
_JUDGED = r"(?:it|this|the (?:[\w'’-]+ ){0,2}(?:answer|response))"
_CONCLUSION = re.compile(  # a concluding sentence, or a last clause about the judged answer
    r"\A\W*(?:overall|therefore|in conclusion)\b.*"
    rf"|(?:\A|, )(?:{_CONCLUSION_WORD}{_JUDGED} (?:is|should be)|{_JUDGED} should be"
    rf"|I \w+ {_JUDGED})\b[^,;]*\Z",
    re.IGNORECASE,
)
_STATES_VERDICT = re.compile(rf"\W*{_JUDGED} is\b", re.IGNORECASE)
_ENDED = re.compile(r"[.!]$")
_NEW_SENTENCE = re.compile(r"[.!?]\s|\n")
_EXAMPLE_OR_DENIAL = re.compile(
    r"\A\W*for (?:example|instance)\b|\b(?:examples?|instance|templates?)\b(?:\s+\w+){0,3}\W*\Z"
    r"|\bsuch as\W*\Z"
    r"|(?:\b(?<!\bor )(?:not|never|rather than|instead of)|n['’]t)"
    r"(?:\s+(?:be|say|print|answer|write|reply|output|return|give))?[\s:\"'“(]*\Z",
    re.IGNORECASE,
)
_RETRACTION = re.compile(
    r"[ \t\"'”`)]*+(?:(?:is|was|would be) (?:not|wrong|incorrect|an example)|(?:is|was)n['’]t)\b",
    re.IGNORECASE,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def read_word(response: str, words: Mapping[str, Verdict]) -> Verdict | None:
    """Read a judge's word: alone, stated ("Answer: right") or explained ("right, because").

    None if there is neither word, both stay open, or one contradicts the other. Case, marks around
    the word, and reasoning before it are ignored.

    >>> read_word("**Yes.** They agree.", YES_OR_NO), read_word("I have no idea.", YES_OR_NO)
    (True, None)
    >>> read_word("Verdict: wrong", RIGHT_OR_WRONG), read_word("Right. Wrong.", RIGHT_OR_WRONG)
    (False, None)
    """
    text = strip_reasoning(response).replace("|", " ")  # of tables
    parts = split_sentences(normalize_response(text))
    word = (
        " ".join(parts)
        .strip(_OUTER_CHARACTERS)
        .removeprefix(_BOXED)
        .strip(_OUTER_CHARACTERS)
        .casefold()
    )
    if word in words:
        return words[word]
    if _NEITHER.search(text):
        return None
    if (last := _last_sentence_verdict(parts, words)) is not None:
        return last
    stated = any(part.strip(_OUTER_CHARACTERS).casefold() in words for part in parts[:-1])
    if not stated and (conclusion := _CONCLUSION.search(parts[-1].strip(_OUTER_CHARACTERS))):
        return _conclusion_verdict(conclusion, parts[:-1], words)
    return None if _is_denied(text, parts, words) else _unanimous_verdict(parts, words)


def _conclusion_verdict(
    conclusion: re.Match[str], parts: Sequence[str], words: Mapping[str, Verdict]
) -> Verdict | None:
    """The verdict of "Overall, the answer is wrong.", if nothing before it says the opposite."""
    start = conclusion.string[: conclusion.start()]
    if hedges(start) or _is_denied(conclusion[0], [conclusion[0]], words):
        return None
    verdict = _unanimous_verdict([conclusion[0]], words)
    before = filter(_STATES_VERDICT.match, (*parts, start))
    stated = {
        _unanimous_verdict([one], words) for one in before if not _is_denied(one, [one], words)
    }
    return verdict if stated <= {None, verdict} else None


def _unanimous_verdict(parts: Sequence[str], words: Mapping[str, Verdict]) -> Verdict | None:
    """The verdict of all sentences; None if two of them differ."""
    if any(_says_both(part, words) for part in _drop_questions(parts)):
        return None
    overall = _letter("\n".join(parts), words)
    if overall is None or overall not in _VERDICT_LETTERS:
        return None
    if len(parts) > 1 and any(_letter(part, words) not in (overall, None) for part in parts):
        return None
    return [*words.values()][_VERDICT_LETTERS.index(overall)]


def _last_sentence_verdict(parts: Sequence[str], words: Mapping[str, Verdict]) -> Verdict | None:
    """The verdict that is the whole last sentence, after sentences of reasons: "... Correct."."""
    if len(parts) == 1 or len(parts[0].split()) <= _MAX_VERDICT_WORDS:
        return None
    found = [_letter(part, words) for part in parts if len(part.split()) <= _MAX_VERDICT_WORDS]
    lone = _letter(parts[-1], words) if len(parts[-1].split()) < _MAX_VERDICT_WORDS else None
    if (
        lone is None
        or lone not in _VERDICT_LETTERS
        or any(one not in (lone, None) for one in found)
    ):
        return None
    return [*words.values()][_VERDICT_LETTERS.index(lone)]


def _is_denied(text: str, parts: Sequence[str], words: Collection[str]) -> bool:
    """Whether a word is negated, or the last sentence refuses a verdict."""
    denied = alternatives(_WORDS, "before a word that is denied")
    tokens = [word.strip(f"{_OUTER_CHARACTERS},;:?") for word in text.casefold().split()]
    own = any(one == "not" and other in words for one, other in pairwise(tokens))
    return own or re.search(denied, text, re.IGNORECASE) is not None or refuses(parts[-1])


def _drop_questions(parts: Sequence[str]) -> Sequence[str]:
    """Drop questions before the answer: "Right or wrong? Right."."""
    return [part for part in parts[:-1] if not part.endswith("?")] + [*parts[-1:]]


def _says_both(sentence: str, words: Mapping[str, Verdict]) -> bool:
    no_verdict = alternatives(_WORDS, "after a word that is no verdict")  # "the right answer is"
    patterns = (rf"\b{word}\b(?!{no_verdict})" for word in words)
    return all(re.search(pattern, sentence, re.IGNORECASE) for pattern in patterns)


def _letter(text: str, words: Mapping[str, Verdict]) -> str | None:
    """Parse the words as options, under letters that no judge writes (L and M)."""
    from bench_assets.core.parsing.choices import read_choice  # 0.1 s of patterns

    text = _JUDGED_OPTION_LETTER.sub("X", text)
    return read_choice(text, (*("",) * len(_UNUSED), *words)).letter


def read_option(response: str, options: Sequence[str]) -> str | None:
    """Read the letter of an option, with or without its own text; Z for none of them.

    None if it says anything else: the letter of no option, another option's text, a sentence.

    >>> read_option("(B) right", ("left", "right")), read_option("(Z) Failed", ("left", "right"))
    ('B', 'Z')
    >>> read_option("(A) right", ("left", "right")), read_option("C", ("left", "right"))
    (None, None)
    """
    text = strip_reasoning(response)
    found = _LABEL.match(text)
    if found is None:
        return None
    letter, rest = found[1].upper(), text[found.end() :].strip(_OUTER_CHARACTERS)
    if letter == NO_OPTION:
        return letter if not rest or _FAILURE.fullmatch(rest) else None
    texts = dict(zip(ascii_uppercase, options, strict=False))
    fits = letter in texts and (
        not rest
        or normalize_option(rest) == normalize_option(texts[letter].strip(_OUTER_CHARACTERS))
    )
    return letter if fits else None


def read_object(response: str, asked: str = "") -> dict[str, Any] | None:
    """Parse the one JSON object of a response; None if absent, several, or incomplete.

    Prose and fences around it, single quotes, line ends in strings and trailing commas are
    accepted, Python's ``True`` is not. None also if the object is an echo of the request, or if
    the prose denies it or calls it an example.

    Args:
        response: The judge's response, with or without its reasoning.
        asked: Text of the request, to recognise echoes.

    >>> read_object("Sure: {'right': true,} That is it."), read_object('{"a": 1} {"a": 2}')
    ({'right': True}, None)
    """
    text = strip_reasoning(response)
    spans = _objects(text) if len(text) <= _MAX_RESPONSE_LENGTH else []
    objects = [text[start:end] for start, end in spans]
    first = _decode_json(objects[0]) if objects else None
    if not isinstance(first, dict) or any(_decode_json(one) != first for one in objects[1:]):
        return None
    question = " ".join(asked.split())
    if any(one in question for one in {" ".join(one.split()) for one in objects}):
        return None
    return None if any(_is_disclaimed(text, *span) for span in spans) else first


def decode_json(text: str) -> object:
    r"""Decode JSON as leniently as ``read_object``; None if the text is not JSON.

    >>> decode_json("```json\n[1, 0,]\n```"), decode_json('{"a": 1, "a": 0}')
    ([1, 0], None)
    """
    if len(text) > _MAX_RESPONSE_LENGTH:
        return None
    value = _decode_json(text)
    fenced = _FENCE.search(text) if value is None else None
    return _decode_json(fenced[1]) if fenced and not _is_disclaimed(text, *fenced.span()) else value


def introduces_no_verdict(before: str) -> bool:
    """Whether a text introduces an example or something denied, rather than a verdict.

    >>> (
    ...     introduces_no_verdict("For example, you would print"),
    ...     introduces_no_verdict("It is not right:"),
    ... )
    (True, False)
    """
    lead = before[-_LEAD:].rstrip(_FENCED).removesuffix("```json").rstrip(_FENCED)
    sentence = _NEW_SENTENCE.split(lead)[-1]
    return _ENDED.search(lead) is None and _EXAMPLE_OR_DENIAL.search(sentence) is not None


def read_verdict(response: Response, words: Mapping[str, bool]) -> bool | None:
    """Read a judge's word as ``read_word`` does; None if its response was truncated."""
    return None if is_truncated(response) else read_word(response.said.answer, words)


def is_truncated(response: Response) -> bool:
    """Whether a response was truncated at the token limit.

    >>> is_truncated(Response(text="No", finish_reason="length"))
    True
    """
    return response.finish_reason == "length"


def _is_disclaimed(text: str, start: int, end: int) -> bool:
    """Whether the surrounding prose denies that a part of a text is the verdict."""
    before = text[max(0, start - _LEAD) : start]
    return introduces_no_verdict(before) or _RETRACTION.match(text, end) is not None


def _objects(text: str) -> list[tuple[int, int]]:
    """Find the spans of the outermost braces; none if the braces do not balance."""
    found: list[tuple[int, int]] = []
    depth = start = at = 0
    while part := (_PART if depth else _BRACE).search(text, at):
        at = part.end()
        if part[0] == "{":
            start = start if depth else part.start()
            depth += 1
        elif part[0] == "}":
            depth -= 1
            if depth < 0:
                return []
            if not depth:
                found.append((start, at))
    return [] if depth else found


def _decode_json(text: str) -> object:
    for written in (text, _TOKEN.sub(_repair_token, text)):
        try:
            value: object = json.loads(
                written, strict=False, object_pairs_hook=_reject_duplicate_names
            )
        except (ValueError, RecursionError):
            continue
        return value
    return None


def _repair_token(token: re.Match[str]) -> str:
    text = token[0]
    if text[0] != "'":
        return "" if text == "," else text
    inner = _ESCAPED.sub(lambda one: "'" if one[1] == "'" else one[0], text[1:-1])
    return f'"{inner.replace(chr(34), chr(92) + chr(34))}"'


def _reject_duplicate_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate name")
    return found
