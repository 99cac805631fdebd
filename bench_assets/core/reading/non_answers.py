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
_MIN_ECHO_LENGTH = 12  # characters of a question; what repeats less may be an answer
_HTTP_ERRORS = range(400, 600)
_NAME = re.compile(r"\{([a-zA-Z, ]+)\}")  # of a section, in a pattern
_MARKS = {
    name: re.compile(_NAME.sub(lambda section: "|".join(_SECTIONS[section[1]]), "".join(parts)))
    for name, parts in _SECTIONS["patterns"].items()
}


def classify_non_answer(response: str, question: str = "", options: Sequence[str] = ()) -> str:
    """Classify a response that is no answer; "" for an ordinary response.

    Args:
        response: The response without the model's reasoning.
        question: Text of the question; an exception that it names is not an error.
        options: Texts of the options.

    >>> classify_non_answer("KeyError: 'A'"), classify_non_answer("Let me look at option (A).")
    ('an error message', 'an unfinished plan')
    >>> classify_non_answer("The sign reads 'Error 404', so the answer is (B).")
    ''
    """
    text = response.strip()
    if not text or text in options or len(text) > _MAX_OBJECT_LENGTH:
        return ""
    reason = _classify(text, question, options) if _classify_text(text) else ""
    may_be_echo = reason in ("", PLAN)
    return ECHO if may_be_echo and _is_echo(text, question, options) else reason


@lru_cache(256)  # one response to many questions is read once
def _classify_text(text: str) -> str:
    """Kind of a text for any question; a text that is ordinary here is so for all questions."""
    return _classify(text, "", ())


def _classify(text: str, question: str, options: Sequence[str]) -> str:
    """Kind of a text, echoes aside."""
    reason = _classify_object(text, "\n".join((question, *options)))
    if not reason and _is_tool_call(text):
        reason = TOOL_CALL
    elif not reason and _leaks_template(text):
        reason = TEMPLATE
    if reason or len(text) > _MAX_LENGTH:
        return reason
    speaks_of_it = _MARKS["speaks of it"].search(text) is not None
    if _MARKS["trace"].match(text) or (not speaks_of_it and _is_error(text, question, options)):
        return ERROR
    if not speaks_of_it and _MARKS["moderation"].fullmatch(text):
        return MODERATION
    return PLAN if _is_plan(text) else ""


def _classify_object(text: str, prompt: str) -> str:
    """Kind of a JSON object, or of the first in a list, by its keys; "" for an answer.

    An object beside other text, or with a key that the prompt names, may be an answer.
    """
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
    if _has_keys(first, "tool keys") or first.get("type") in _SECTIONS["types of tool calls"]:
        return TOOL_CALL
    is_label = str(first.get("label")).casefold() in _SECTIONS["moderation labels"]
    is_filtered = "content_filter" in str(first.get("finish_reason"))
    if is_label or is_filtered or _has_keys(first, "moderation keys"):
        return MODERATION
    failed = first.get("success", first.get("ok")) is False or first.get("code") in _HTTP_ERRORS
    return ERROR if failed or _has_keys(first, "error keys") else ""


def _has_keys(value: dict[str, object], section: str) -> bool:
    """Whether an object has all keys of a line of a section."""
    return any(value.keys() >= {*line.split()} for line in _SECTIONS[section])


def _is_tool_call(text: str) -> bool:
    """Whether a response ends with a tool call; text after the call would be an answer."""
    if opening := _MARKS["tool call opens"].search(text):
        closings = list(_MARKS["tool call closes"].finditer(text, opening.end()))
        rest = text[closings[-1].end() :] if closings else ""
        return not re.search(r"\w", _MARKS["special token"].sub("", rest))
    is_action = _MARKS["action"].search(text) is not None and not _MARKS["action ends"].search(text)
    return is_action or _MARKS["call"].fullmatch(text) is not None


def _leaks_template(text: str) -> bool:
    """Whether a text begins with a user turn, and no model turn has words."""
    if _MARKS["jinja"].match(text):
        return True
    model_turns = list(_MARKS["model turn"].finditer(text))
    has_words = bool(model_turns) and model_turns[-1][1] is not None
    return _MARKS["user turn"].match(text) is not None and not has_words


def _is_error(text: str, question: str, options: Sequence[str]) -> bool:
    """Whether a text is an error message that neither question nor options are about."""
    rest = _MARKS["label"].sub("", text, count=1).rstrip(" .)*")
    if _MARKS["no error"].fullmatch(text) or _MARKS["letter"].fullmatch(rest) or rest in options:
        return False
    if match := _MARKS["exception"].fullmatch(text):
        return not any(match["name"] in part for part in (question, *options))
    if _MARKS["labelled"].fullmatch(text):
        label = re.findall(r"\w+", text)[0].casefold()
        return not any(label in part.casefold() for part in (question, *options))
    return bool(_MARKS["failure"].match(text) or _MARKS["value"].fullmatch(text))


def _is_echo(text: str, question: str, options: Sequence[str]) -> bool:
    """Whether a text holds nothing but the question, its options and words of prompts."""
    if len(text) > _MAX_LENGTH:
        return False
    stripped, stripped_question = _stripped_response(text), _stripped_question(question)
    if len(stripped_question) < _MIN_ECHO_LENGTH or stripped_question not in stripped:
        return False
    rest = stripped.replace(stripped_question, " ")
    n_letters = len(_MARKS["letter"].findall(text)) - len(_MARKS["letter"].findall(question))
    repeated = [option for option in map(_strip_punctuation, options) if option in rest]
    if n_letters > len(options) or 0 < len(repeated) < len(options):
        return False
    for option in sorted(repeated, key=len, reverse=True):
        rest = rest.replace(option, " ", 1)
    return not re.search(r"\w", _MARKS["prompt word"].sub("", rest))


def _strip_punctuation(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", " ", text.casefold()).split())


_stripped_question = lru_cache(4096)(_strip_punctuation)  # many responses to a question
_stripped_response = lru_cache(256)(_strip_punctuation)  # or one to many


def _is_plan(text: str) -> bool:
    """Whether every sentence announces an action and none states a result."""
    pieces = _MARKS["sentence end"].split(text)
    sentences = [piece for piece in pieces if re.search(r"\w", piece)]
    has_plans = bool(sentences) and all(map(_MARKS["plan"].fullmatch, sentences))
    return has_plans and not _MARKS["conclusion"].search(text)
