"""Parsers of other projects, rewritten from their published rules, for comparison.

Where they draw an option at random or call a model, nothing is read here.
"""

import re
from collections.abc import Callable, Sequence
from string import ascii_uppercase
from typing import Any

_REFUSALS = (
    "Sorry, I can't help with images of people yet.",
    "I can't process this file.",
    "I'm sorry, but without the image provided",
    "Cannot determine the answer",
)


def vlmevalkit(response: str, options: Sequence[str]) -> str | None:
    """VLMEvalKit's ``can_infer``: the only letter among the words, or else the only option text."""
    texts = dict(zip(ascii_uppercase, options, strict=False))
    if any(refusal in response for refusal in _REFUSALS):
        return None
    words = re.sub(r"[.()\[\],:;!*#{}]", " ", response).split()
    letters_found = [letter for letter in texts if letter in words]
    if len(letters_found) == 1:
        is_article = letters_found == ["A"] and len(words) > 3
        return None if is_article else letters_found[0]
    lowered = response.lower()
    if letters_found or len(lowered) > 2 * sum(map(len, texts.values())):
        return None
    named_letters = [letter for letter, text in texts.items() if text.lower() in lowered]
    return named_letters[0] if len(named_letters) == 1 else None


def lmms_eval(response: str, options: Sequence[str]) -> str | None:
    """lmms-eval's BLINK: the first letter of the stripped response that a pattern finds."""
    last = ascii_uppercase[len(options) - 1]
    match = re.match(rf"\(?([A-{last}])(?:\)|\.|\s|:|$)?", response.strip(), re.IGNORECASE)
    return match[1].upper() if match else None


def mmmu(response: str, options: Sequence[str]) -> str | None:
    """MMMU's ``parse_multi_choice_response``: the last bracketed, bare or written option."""
    stripped = response.strip(",.!?;:'")
    padded = f" {stripped} "
    texts = dict(zip(ascii_uppercase, options, strict=False))
    for form in ("({})", " {} ", "{}."):
        letters_found = [letter for letter in texts if form.format(letter) in padded]
        if letters_found:
            return max(letters_found, key=lambda letter: padded.rfind(form.format(letter)))
    named_letters = [letter for letter, text in texts.items() if text.lower() in padded.lower()]
    if len(padded.split()) > 5 and named_letters:
        return max(named_letters, key=lambda letter: padded.lower().rfind(texts[letter].lower()))
    return None


def lm_eval(response: str, options: Sequence[str]) -> str | None:
    """lm-evaluation-harness' MMLU-Pro: the first letter after "answer is"."""
    match = re.search(r"answer is \(?([ABCDEFGHIJ])\)?", response)
    letter = match[1] if match else ""
    return letter if letter in tuple(ascii_uppercase[: len(options)]) else None


def lm_eval_number(response: str, _: Sequence[str]) -> float | None:
    """lm-evaluation-harness' GSM8K, "flexible-extract": the last number."""
    numbers = re.findall(r"-?[$0-9.,]{2,}|-?[0-9]+", response)
    try:
        return float(re.sub(r"[$,]|\.$", "", numbers[-1])) if numbers else None
    except ValueError:
        return None


PARSERS: dict[str, dict[str, Callable[[str, Sequence[str]], Any]]] = {
    "choice": {
        "VLMEvalKit": vlmevalkit,
        "lmms-eval, BLINK": lmms_eval,
        "lmms-eval, MMMU": mmmu,
        "lm-eval, MMLU-Pro": lm_eval,
    },
    "number": {"lm-eval, GSM8K": lm_eval_number},
}
"""By kind of answer and project."""
