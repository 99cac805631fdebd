"""Non-answers: recognises and classifies responses that are no attempt at an answer.

Tool calls, errors of programs and servers, moderation objects, leaked chat templates, echoes of the
prompt, unfinished plans (``non_answers.toml`` has their patterns). They are detected before any
parser reads the text, since they may contain the gold by chance. A response about such things ("The
sign reads 'Error'") is an ordinary one: a non-answer has no sentence beside it.
"""

import json
import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

TOOL_CALL = "a tool call"
ERROR = "an error message"
MODERATION = "a moderation object"
TEMPLATE = "a leak of the chat template"
ECHO = "an echo of the prompt"
PLAN = "an unfinished plan"

_SECTIONS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_MAX_LENGTH = 4_000  # characters of an error, an echo, a plan
_MAX_OBJECT_LENGTH = 20_000  # characters of a server's object, a call, a template
_MAX_WORDS_AFTER_VALUE = 12  # words after a value that a program printed
_PREDICATE_STARTS = ("is ", "was ", "means ", "at ", "because ")
_MIN_ECHO_LENGTH = 12  # characters of a question; what repeats less may be an answer


def _section_pattern(section: str) -> str:
    """The lines of a section as alternatives of one pattern."""
    return "|".join(_SECTIONS[section])


_TOOL_CALL_START = re.compile(
    rf"^[ \t]*(?:```\w*\s+)?(?:{_section_pattern('tool opens')})"
    rf"\s*(?:[\[{{<`\"]|\w[\w.]*\s*[({{<\n]|\w+\()",
    re.MULTILINE,
)
_TOOL_CALL_END = re.compile(_section_pattern("tool closes"))
_ACTION = re.compile(r"^Action:[ \t]*\S+.*\n+Action Input:", re.MULTILINE)
_ACTION_ENDS = re.compile(r"^(?:Final )?Answer:", re.MULTILINE | re.IGNORECASE)
_ARGUMENTS = r"\(\s*(?:\w+\s*=(?:[^()\"']|\"[^\"]*\"|'[^']*')*+)?\)"
_CALL = re.compile(rf"(?:[A-Za-z]+[_.])+\w+{_ARGUMENTS}|\[\w+{_ARGUMENTS}\]")
_ERROR_DETAIL = (  # what is printed after the name of an error: no verb and no "I am sure."
    r"(?!(?:I|and|or|of|in|on|at|as|is|are|was|were|will|can|has|means|occurs?|happens?|because)\b)"
    r"[^\n]{1,200}"
)
_EXCEPTION = re.compile(
    rf"(?:[Uu]ncaught |raise )?(?:[A-Za-z_]\w*\.)*"
    rf"(?P<name>[A-Z]\w*(?:Error|Exception|Interrupt|Warning)|(?i:{_section_pattern('exceptions')}))"
    rf"(?::[^\n]*|\([^\n]*|[ \t]+(?:[-–—][ \t]+)?(?!\(){_ERROR_DETAIL})"
)
_ORDINARY = re.compile(  # no error: an exception to what is asked
    r"Exceptions?: (?:the|an?)(?: (?!\w+ed\b)[a-z]+){1,3}"
    r"(?: (?:is|are)(?: (?!\w+ed\b)[a-z]+){1,3})?\.?"
)
_LABEL = re.compile(r"\A\W*(?:error|exceptions?)\W*:\W*", re.IGNORECASE)
_LABELLED = re.compile(
    rf"\W*(?:{_section_pattern('label of a short rest')})\W{{0,2}}(?:[:：\])]|\s[-–—])"
    rf"\s*(?:{_ERROR_DETAIL})?"
    rf"|\W*(?-i:(?:HTTP|Error|ERROR) [45]\d\d|{_section_pattern('label alone')})[ \t]+"
    rf"(?!{_section_pattern('of a server, and no error')}){_ERROR_DETAIL}",
    re.IGNORECASE,
)
_VALUE = re.compile(rf"(?:(?:{_section_pattern('values of programs')})[^\S\n]*)+(?:(?<=\s)|\W|\Z)")
_TRACE = re.compile(_section_pattern("trace"), re.IGNORECASE)
_FAILURE = re.compile(
    rf"\W*(?:(?:{_section_pattern('error label')})"
    rf"(?:{_section_pattern('labelled trouble')}|{_section_pattern('trouble')})"
    rf"|(?:{_section_pattern('trouble')})(?=\W*(?:$|[.:;(\[\n]|(?:for|on|at|after|while|or|via|by)\b|[^\x00-\x7f]"
    r"|(?:[A-H]|\d+|the (?:\w+ )?(?:image|option))\W*$)))",
    re.IGNORECASE,
)
_MODERATION = re.compile(rf"\W*(?:{_section_pattern('moderation')})", re.IGNORECASE | re.DOTALL)
_USER_TURN = re.compile(
    rf"\s*(?:<\|begin_of_text\|>|<s>|<bos>)?\s*(?:{_section_pattern('user turn')})"
)
_MODEL_TURN = re.compile(rf"(?:{_section_pattern('model turn')})\s*(\S)?")
_SPECIAL = re.compile(_section_pattern("special tokens"))
_JINJA = re.compile(r"\s*(?:\{%-?|\{\{)\s*\w+")
_PROMPT_WORDS = re.compile(rf"\b(?:{_section_pattern('prompt words')}|[A-Ha-h])\b", re.IGNORECASE)
_LETTER = re.compile(r"(?<![A-Za-z])[A-H](?![A-Za-z])")
_PLAN = re.compile(
    rf"(?:{_section_pattern('plan opens')})*+(?:{_section_pattern('plan subjects')})"
    rf"(?: (?:{_section_pattern('plan adverbs')}))*"
    rf"\s+(?:{_section_pattern('plan verbs')})\b(?:[^:;=]|(?<=\d):(?=\d)){{0,200}}\W*"
    rf"|{_section_pattern('plan in Chinese')}",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(_section_pattern("concludes"), re.IGNORECASE)
_DISCUSSES_ERRORS = re.compile(_section_pattern("speaks of it"), re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_TOOL_KEYS = [set(line.split()) for line in _SECTIONS["tool keys"]]
_ERROR_KEYS = [set(line.split()) for line in _SECTIONS["error keys"]]
_MODERATION_KEYS = [set(line.split()) for line in _SECTIONS["moderation keys"]]
_MODERATION_LABELS = _SECTIONS["moderation labels"]
_PLAIN_WORDS = _SECTIONS["words that a program may print and a person answer"]
_HTTP_ERRORS = range(400, 600)
_TOOL_TYPES = ("tool_use", "function", "function_call", "tool_call")


def classify_non_answer(response: str, question: str = "", options: Sequence[str] = ()) -> str:
    """Classify a response that is no answer; "" for an ordinary response.

    Args:
        response: The response without the model's reasoning.
        question: Text of the question; an exception that it names is not an error.
        options: Texts of the options.

    >>> (
    ...     classify_non_answer("KeyError: 'A'"),
    ...     classify_non_answer("Let me first look at option (A)."),
    ... )
    ('an error message', 'an unfinished plan')
    >>> classify_non_answer("The sign reads 'Error 404', so the answer is (B).")
    ''
    """
    text = response.strip()
    if not text or text in options or len(text) > _MAX_OBJECT_LENGTH:
        return ""
    reason = _classify_text(text) and _classify(text, question, options)
    is_echo = not reason or reason == PLAN
    return ECHO if is_echo and _echoes(text, question, options) else reason


@lru_cache(256)  # one response to many questions is read once
def _classify_text(text: str) -> str:
    """Kind of a text whatever the question; "" here is final, and so is cached."""
    return _classify(text, "", ())


def _classify(text: str, question: str, options: Sequence[str]) -> str:
    """Kind of a text, echoes aside."""
    prompt = "\n".join((question, *options))
    if reason := _classify_object(text, prompt):
        return reason
    if _is_tool_call(text):
        return TOOL_CALL
    if _leaks_template(text):
        return TEMPLATE
    return "" if len(text) > _MAX_LENGTH else _classify_sentences(text, question, options)


def _classify_sentences(text: str, question: str, options: Sequence[str]) -> str:
    speaks_of_it = _DISCUSSES_ERRORS.search(text) is not None
    if _TRACE.match(text) or (not speaks_of_it and _is_error(text, question, options)):
        return ERROR
    if not speaks_of_it and _MODERATION.fullmatch(text):
        return MODERATION
    return PLAN if _is_plan(text) else ""


def _classify_object(text: str, prompt: str) -> str:
    """Kind of a JSON object by its keys, if it stands alone."""
    inner = re.sub(r"\A```\w*\s*|\s*```\Z", "", text)
    if inner[:1] not in "{[" or inner[-1:] not in "}]":
        return ""
    try:
        value = json.loads(inner)
    except (ValueError, RecursionError):
        return ""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict) or "answer" in first or any(key in prompt for key in first):
        return ""
    keys = set(first)
    if any(known <= keys for known in _TOOL_KEYS) or first.get("type") in _TOOL_TYPES:
        return TOOL_CALL
    if any(known <= keys for known in _MODERATION_KEYS) or _is_label_of_moderation(first):
        return MODERATION
    failed = first.get("success", first.get("ok")) is False or first.get("code") in _HTTP_ERRORS
    return ERROR if failed or any(known <= keys for known in _ERROR_KEYS) else ""


def _is_label_of_moderation(value: dict[str, object]) -> bool:
    label = str(value.get("label")).casefold()
    return label in _MODERATION_LABELS or "content_filter" in str(value.get("finish_reason"))


def _is_tool_call(text: str) -> bool:
    """Whether a response ends with a tool call; text after the call would be an answer."""
    if opened := _TOOL_CALL_START.search(text):
        *_, last = [None, *_TOOL_CALL_END.finditer(text, opened.end())]
        return not last or not re.search(r"\w", _SPECIAL.sub("", text[last.end() :]))
    is_action = _ACTION.search(text) is not None and not _ACTION_ENDS.search(text)
    return is_action or _CALL.fullmatch(text) is not None


def _leaks_template(text: str) -> bool:
    """Whether a text begins with a user turn, and no model turn has words."""
    if _JINJA.match(text):
        return True
    *_, last = [None, *_MODEL_TURN.finditer(text)]
    return _USER_TURN.match(text) is not None and (last is None or last[1] is None)


def _is_error(text: str, question: str, options: Sequence[str]) -> bool:
    rest = _LABEL.sub("", text, count=1).rstrip(" .)*")
    if _ORDINARY.fullmatch(text) or _LETTER.fullmatch(rest) or rest in options:
        return False
    if match := _EXCEPTION.fullmatch(text):
        return not any(match["name"] in part for part in (question, *options))
    if _LABELLED.fullmatch(text):
        label = re.findall(r"\w+", text)[0].casefold()
        return not any(label in part.casefold() for part in (question, *options))
    return _FAILURE.match(text) is not None or _is_value(text)


def _is_value(text: str) -> bool:
    """Whether a text is a value that programs print, alone or before a few words."""
    if not (match := _VALUE.match(text)) or text.rstrip(".") in _PLAIN_WORDS:
        return False
    rest = text[match.end() :]
    return (
        "\n" not in rest
        and len(rest.split()) <= _MAX_WORDS_AFTER_VALUE
        and not rest.startswith(_PREDICATE_STARTS)
    )


def _echoes(text: str, question: str, options: Sequence[str]) -> bool:
    """Whether a text holds nothing but the question, its options and words of prompts."""
    if len(text) > _MAX_LENGTH:
        return False
    stripped, known = _stripped_response(text), _stripped_question(question)
    if len(known) < _MIN_ECHO_LENGTH or known not in stripped:
        return False
    rest = stripped.replace(known, " ")
    n_letters = len(_LETTER.findall(text)) - len(_LETTER.findall(question))
    repeated = [option for option in map(_strip_punctuation, options) if option in rest]
    if n_letters > len(options) or 0 < len(repeated) < len(options):
        return False
    for option in sorted(repeated, key=len, reverse=True):
        rest = rest.replace(option, " ", 1)
    return not re.search(r"\w", _PROMPT_WORDS.sub("", rest))


def _strip_punctuation(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", " ", text.casefold()).split())


_stripped_question = lru_cache(4096)(_strip_punctuation)  # many responses to a question
_stripped_response = lru_cache(256)(_strip_punctuation)  # or one to many


def _is_plan(text: str) -> bool:
    """Whether every sentence announces an action and none states a result."""
    parts = [part for part in _SENTENCE_END.split(text) if re.search(r"\w", part)]
    return bool(parts) and all(map(_PLAN.fullmatch, parts)) and not _CONCLUSION.search(text)
