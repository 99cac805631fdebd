"""Elicitation methods: generated text, likelihood of the options, or constrained generation.

``generate`` produces a text for a scorer to parse. ``likelihood`` takes the
log-probability of each option as the response; the likeliest one is the answer. ``constrained``
generates exactly one of the options. Both need questions with options, and nothing is parsed.

Normalizations of a log-probability, named as in lm-evaluation-harness:

=============  ====================  =============================================================
none           ``acc``               log P(option | prompt), the sum over its tokens
characters     ``acc_norm``          the sum divided by the option's characters
bytes          ``acc_bytes``         the sum divided by its UTF-8 bytes
tokens                               the sum divided by its tokens, as lighteval does
unconditional  ``acc_mutual_info``   log P(option | prompt) - log P(option), an empty prompt instead
=============  ====================  =============================================================

Options are written as letters (``A``), in brackets (``(A)``) or as their texts. Letters are equally
long, so their default is ``none``, which picks the letter that greedy decoding would begin with.
Texts differ in length, and their default is ``bytes``, which depends on no tokenizer.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isfinite
from string import ascii_uppercase
from typing import Literal, NamedTuple, Self, TypeAlias, get_args

from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import Question

Method: TypeAlias = Literal["likelihood", "constrained"]
Answers: TypeAlias = Literal["letters", "brackets", "texts"]
Normalization: TypeAlias = Literal["none", "characters", "bytes", "tokens", "unconditional"]

GENERATE = "generate"
"""Name of the default method: the model generates a text, which a scorer parses."""
_DEFAULTS: dict[str, Normalization] = {"letters": "none", "brackets": "none", "texts": "bytes"}
_MARK = "|elicit="


@dataclass(frozen=True, slots=True)
class Elicitation:
    """An elicitation method with its parameters; ``parse`` and ``str`` are inverse.

    >>> Elicitation.parse("likelihood-texts")
    Elicitation(method='likelihood', answers='texts', normalization='bytes')
    >>> str(Elicitation.parse("likelihood-letters-none"))
    'likelihood'
    """

    method: Method
    answers: Answers = "letters"
    normalization: Normalization = "none"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a method and, after hyphens, the form of answers and the normalization.

        Raises:
            SettingsError: If it is unknown; lists the methods.
        """
        method, *rest = text.split("-")
        answers = [word for word in rest if word in get_args(Answers)]
        norms = [word for word in rest if word in get_args(Normalization)]
        known = method in get_args(Method) and len(answers) + len(norms) == len(rest)
        if not known or len(answers) > 1 or len(norms) > (method == "likelihood"):
            raise SettingsError(
                f"elicit: expected {GENERATE}, likelihood or constrained, got {text!r}; optional"
                f" suffixes: how options are written ({_listed(Answers)}), and how likelihoods are"
                f" normalized ({_listed(Normalization)})"
            )
        form: Answers = answers[0] if answers else "letters"  # type: ignore[assignment]
        norm = norms[0] if norms else _DEFAULTS[form] if method == "likelihood" else "none"
        return cls(method, form, norm)  # type: ignore[arg-type]

    def __str__(self) -> str:
        """Format it without defaults."""
        is_default = self.method != "likelihood" or self.normalization == _DEFAULTS[self.answers]
        parts = [
            self.method,
            *([] if self.answers == "letters" else [self.answers]),
            *([] if is_default else [self.normalization]),
        ]
        return "-".join(parts)

    @property
    def canonical_form(self) -> str:
        """All parameters, for signatures.

        >>> Elicitation("likelihood").canonical_form
        'likelihood-letters-none'
        """
        norm = (self.normalization,) if self.method == "likelihood" else ()
        return "-".join((self.method, self.answers, *norm))

    def options(self, question: Question) -> tuple[str, ...]:
        """Answers that a model is offered for a question, in the order shown."""
        if self.answers == "texts":
            return question.options
        letters = ascii_uppercase[: len(question.options)]
        return tuple(f"({letter})" if self.answers == "brackets" else letter for letter in letters)


def _listed(names: object) -> str:
    return ", ".join(f"-{name}" for name in get_args(names))


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
    is_method = elicit.partition("-")[0] in get_args(Method)
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
    """Remove the method from a model's signature; None if it has none."""
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


def cache_identity(signature: str) -> str:
    """Derive the engine and decoding of cached responses from the signature of a model.

    >>> cache_identity("id|t=0|thinking=<a> </a>|elicit=likelihood-letters-none")
    'id|t=0|elicit=likelihood'
    """
    base, elicitation = split_signature(signature)
    generated = base.partition("|thinking=")[0]  # applied after generation
    return elicited_decoding(generated, elicitation.method if elicitation else "")


class OptionLikelihoods(NamedTuple):
    """A model's response to ``likelihood``: log-probabilities of the options."""

    logprobs: tuple[float, ...]  # of each option, summed over its tokens; natural logarithm
    tokens: tuple[int, ...]  # of each option
    bounds: tuple[int, ...] = ()  # indices of options with an upper bound only (not listed)

    def to_json(self) -> str:
        """Serialise as the text of a response."""
        logprobs = [round(logprob, 6) for logprob in self.logprobs]
        bounds = {"bounds": list(self.bounds)} if self.bounds else {}
        return json.dumps({"logprobs": logprobs, "tokens": list(self.tokens)} | bounds)

    @classmethod
    def from_json(cls, text: str, n: int) -> Self:
        """Parse the text of a response.

        Raises:
            ValueError: If it does not have ``n`` finite log-probabilities.
        """
        try:
            payload = json.loads(text)
            likelihoods = cls(
                tuple(map(float, payload["logprobs"])),
                tuple(map(int, payload["tokens"])),
                tuple(map(int, payload.get("bounds", ()))),
            )
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"expected log-probabilities of options, got {text[:60]!r}") from error
        if not len(likelihoods.logprobs) == len(likelihoods.tokens) == n:
            raise ValueError(
                f"expected log-probabilities of {n} options, got {len(likelihoods.logprobs)}"
            )
        if not all(isfinite(logprob) and logprob <= 1e-4 for logprob in likelihoods.logprobs):
            raise ValueError(f"not log-probabilities: {text[:60]!r}")
        return likelihoods


def normalize_logprobs(
    found: OptionLikelihoods,
    options: Sequence[str],
    normalization: Normalization,
    unconditional: OptionLikelihoods | None = None,
) -> tuple[float, ...]:
    """Normalize log-probabilities; the highest one is the answer.

    >>> found = OptionLikelihoods((-2.0, -3.0), (1, 3))
    >>> (
    ...     normalize_logprobs(found, ["no", "never"], "tokens"),
    ...     normalize_logprobs(found, ["no", "never"], "none"),
    ... )
    ((-2.0, -1.0), (-2.0, -3.0))

    Args:
        found: Log-probabilities of the options under the prompt.
        options: Texts of the options.
        normalization: See the table above.
        unconditional: Log-probabilities under an empty prompt, for ``unconditional``.
    """
    if normalization == "unconditional":
        if unconditional is None:
            raise ValueError("the unconditional likelihoods are missing")
        pairs = zip(found.logprobs, unconditional.logprobs, strict=True)
        return tuple(conditional - prior for conditional, prior in pairs)
    sizes: dict[str, Sequence[int]] = {
        "none": [1] * len(options),
        "characters": [len(option) for option in options],
        "bytes": [len(option.encode()) for option in options],
        "tokens": found.tokens,
    }
    return tuple(
        logprob / max(1, size)
        for logprob, size in zip(found.logprobs, sizes[normalization], strict=True)
    )


def softmax(scores: Sequence[float]) -> list[float]:
    """Softmax of normalized log-probabilities over the options.

    >>> softmax([0.0, 0.0])
    [0.5, 0.5]
    """
    top = max(scores)
    weights = [exp(score - top) for score in scores]
    return [weight / sum(weights) for weight in weights]
