"""Elicitation methods: generated text, or the likelihood of the options.

``generate`` produces a text for a scorer to parse. ``likelihood`` takes the log-probability of each
option as the response; the likeliest one is the answer. It needs questions with options, and
nothing is parsed. A second look asks for one of its letters (``constrained``) where an engine can.

Normalizations of a log-probability, named as in lm-evaluation-harness:

==========  =============  ========================================================
none        ``acc``        log P(option | prompt), the sum over its tokens
characters  ``acc_norm``   the sum divided by the option's characters
bytes       ``acc_bytes``  the sum divided by its UTF-8 bytes
==========  =============  ========================================================

Options are written as letters (``A``), in brackets (``(A)``) or as their texts. Letters are equally
long, so their default is ``none``, which picks the letter that greedy decoding would begin with.
Texts differ in length, and their default is ``bytes``, which depends on no tokenizer.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isfinite
from string import ascii_uppercase
from typing import Literal, NamedTuple, Self, TypeAlias, get_args

from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import Question

Answers: TypeAlias = Literal["letters", "brackets", "texts"]
Normalization: TypeAlias = Literal["none", "characters", "bytes"]

GENERATE = "generate"
"""Name of the default method: the model generates a text, which a scorer parses."""
LIKELIHOOD = "likelihood"
_DEFAULTS: dict[str, Normalization] = {"letters": "none", "brackets": "none", "texts": "bytes"}
_MARK = "|elicit="
_TEMPERATURE = re.compile(r"(?:^|(?<=\|))t=-?\d[^,|]*")
_MAX_LOGPROB = 1e-4  # largest log probability that is accepted; rounding can exceed 0


@dataclass(frozen=True, slots=True)
class Elicitation:
    """The likelihood of options, with its parameters; ``parse`` and ``str`` are inverse.

    >>> Elicitation.parse("likelihood-texts")
    Elicitation(answers='texts', normalization='bytes')
    >>> str(Elicitation.parse("likelihood-letters-none"))
    'likelihood'
    """

    answers: Answers = "letters"
    normalization: Normalization = "none"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the method and, after hyphens, the form of answers and the normalization.

        Raises:
            SettingsError: If it is unknown; lists the methods.
        """
        method, *suffixes = text.split("-")
        forms = [suffix for suffix in suffixes if suffix in get_args(Answers)]
        norms = [suffix for suffix in suffixes if suffix in get_args(Normalization)]
        is_known = method == LIKELIHOOD and len(forms) + len(norms) == len(suffixes)
        if not is_known or len(forms) > 1 or len(norms) > 1:
            raise SettingsError(
                f"elicit: expected {GENERATE} or {LIKELIHOOD}, got {text!r}; optional suffixes:"
                f" how options are written ({_list_suffixes(Answers)}), and how likelihoods are"
                f" normalized ({_list_suffixes(Normalization)})"
            )
        form: Answers = forms[0] if forms else "letters"  # type: ignore[assignment]
        return cls(form, norms[0] if norms else _DEFAULTS[form])  # type: ignore[arg-type]

    def __str__(self) -> str:
        """Format it without defaults."""
        parts: list[str] = [LIKELIHOOD]
        if self.answers != "letters":
            parts.append(self.answers)
        if self.normalization != _DEFAULTS[self.answers]:
            parts.append(self.normalization)
        return "-".join(parts)

    @property
    def canonical_form(self) -> str:
        """All parameters, for signatures.

        >>> Elicitation().canonical_form
        'likelihood-letters-none'
        """
        return "-".join((LIKELIHOOD, self.answers, self.normalization))

    def options(self, question: Question) -> tuple[str, ...]:
        """Answers that a model is offered for a question, in the order shown."""
        if self.answers == "texts":
            return question.options
        letters = ascii_uppercase[: len(question.options)]
        return tuple(f"({letter})" if self.answers == "brackets" else letter for letter in letters)


def _list_suffixes(literal_type: object) -> str:
    return ", ".join(f"-{name}" for name in get_args(literal_type))


class ElicitedName(NamedTuple):
    """A model's name with its elicitation method."""

    model: str
    elicit: str


def split_elicited_name(name: str) -> ElicitedName | None:
    """Split a name such as ``step-500+likelihood``; None without a method.

    >>> split_elicited_name("run/step-500+likelihood-texts")
    ElicitedName(model='run/step-500', elicit='likelihood-texts')
    >>> split_elicited_name("a+b")
    """
    model, _, elicit = name.rpartition("+")
    is_method = elicit.partition("-")[0] == LIKELIHOOD
    return ElicitedName(model, elicit) if model and is_method else None


def elicited_model_name(name: str, elicit: str) -> str:
    """Append the method to a model's name, except ``generate``.

    Raises:
        SettingsError: If there is no such method.
    """
    return name if elicit in ("", GENERATE) else f"{name}+{Elicitation.parse(elicit)}"


def elicited_signature(signature: str, elicitation: Elicitation) -> str:
    """Add the method to the signature of a model."""
    return f"{signature}{_MARK}{elicitation.canonical_form}"


def split_signature(signature: str) -> tuple[str, Elicitation | None]:
    """Split the method off a model's signature; None if it has none."""
    base, mark, elicit = signature.rpartition(_MARK)
    return (base, Elicitation.parse(elicit)) if mark else (signature, None)


def is_elicited(signature: str) -> bool:
    """Whether the answers are elicited options, so that there is nothing to parse.

    >>> is_elicited(f"codis|v1|main{_MARK}likelihood"), is_elicited("codis|v1|main")
    (True, False)
    """
    return _MARK in signature


def elicited_decoding(decoding: str, method: str) -> str:
    """Format decoding and method as stored in the response cache."""
    return f"{decoding}{_MARK}{method}".lstrip("|") if method else decoding


def cache_identity(signature: str, temperature: float | None) -> str:
    """Derive the engine and decoding of cached responses from the signature of a model.

    ``temperature`` is that of the condition, see ``set_temperature``; elicitation ignores it.

    >>> cache_identity("id|t=0|thinking=<a> </a>|elicit=likelihood-letters-none", 1.0)
    'id|t=0|elicit=likelihood'
    """
    base, elicitation = split_signature(signature)
    generated = base.partition("|thinking=")[0]  # applied after generation
    if elicitation:
        return elicited_decoding(generated, LIKELIHOOD)
    return set_temperature(generated, temperature)


def set_temperature(decoding: str, temperature: float | None) -> str:
    """Set the temperature of a decoding, which may follow an engine; None leaves it.

    >>> set_temperature("id|t=0,max=40", 0.7), set_temperature("", 0.7)
    ('id|t=0.7,max=40', 't=0.7')
    """
    if temperature is None:
        return decoding
    text = f"t={temperature:g}"
    if _TEMPERATURE.search(decoding):
        return _TEMPERATURE.sub(text, decoding, count=1)
    return f"{decoding}|{text}".lstrip("|")


def format_logprobs(logprobs: Sequence[float]) -> str:
    """Format a response to ``likelihood``: natural logarithms, summed over each option's tokens."""
    return json.dumps({"logprobs": [round(logprob, 6) for logprob in logprobs]})


def parse_logprobs(text: str, n: int) -> tuple[float, ...]:
    """Parse the log-probabilities of ``n`` options.

    Raises:
        ValueError: If they are not ``n`` finite log-probabilities.
    """
    try:
        logprobs = tuple(map(float, json.loads(text)["logprobs"]))
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"expected log-probabilities of options, got {text[:60]!r}") from error
    if len(logprobs) != n:
        raise ValueError(f"expected log-probabilities of {n} options, got {len(logprobs)}")
    if not all(isfinite(logprob) and logprob <= _MAX_LOGPROB for logprob in logprobs):
        raise ValueError(f"not log-probabilities: {text[:60]!r}")
    return logprobs


def normalize_logprobs(
    logprobs: Sequence[float], options: Sequence[str], normalization: Normalization
) -> tuple[float, ...]:
    """Normalize the log-probabilities of options; the highest one is the answer.

    >>> normalize_logprobs((-2.0, -5.0), ["no", "never"], "characters")
    (-1.0, -1.0)
    """
    sizes = {
        "none": [1] * len(options),
        "characters": [len(option) for option in options],
        "bytes": [len(option.encode()) for option in options],
    }
    return tuple(
        logprob / max(1, size) for logprob, size in zip(logprobs, sizes[normalization], strict=True)
    )


def softmax(scores: Sequence[float]) -> list[float]:
    """Softmax of normalized log-probabilities over the options.

    >>> softmax([0.0, 0.0])
    [0.5, 0.5]
    """
    top = max(scores)
    weights = [exp(score - top) for score in scores]
    return [weight / sum(weights) for weight in weights]
