"""Ports of chat models (prompts, requests, responses) and of encoders (texts, images, vectors)."""

import hashlib
import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from math import inf
from numbers import Integral, Real
from typing import Literal, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from bench_assets.core.reading.reasoning import ReasoningSplit, Tags, split_reasoning
from bench_assets.core.schema.rows import Question

Role: TypeAlias = Literal["system", "user", "assistant"]
Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class Image:
    """An image inside a prompt, by content."""

    sha256: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation: texts and images in reading order."""

    role: Role
    parts: tuple[str | Image, ...]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A conversation for a model to answer.

    The model answers each user turn that no assistant turn follows before the next turn is sent;
    its last answer is the response.
    """

    turns: tuple[Turn, ...]

    @classmethod
    def of(cls, *parts: str | Image, system: str = "") -> Self:
        """Build a prompt of one user turn, after a system turn if ``system`` is given."""
        opening = (Turn("system", (system,)),) if system else ()
        return cls((*opening, Turn("user", parts)))

    @property
    def images(self) -> tuple[Image, ...]:
        """Every image of every turn, in reading order."""
        return tuple(p for turn in self.turns for p in turn.parts if isinstance(p, Image))

    @property
    def sha256(self) -> str:
        """Digest of everything the model sees; equal digests mean equal prompts."""
        return _prompt_digest(self)

    def rounds(self) -> list[tuple[Turn, ...]]:
        """Split the conversation after each turn that the model has to answer.

        Later turns, which need no answer, are left out.
        """
        rounds: list[tuple[Turn, ...]] = []
        current: tuple[Turn, ...] = ()
        for turn, following in zip(self.turns, (*self.turns[1:], None), strict=False):
            current = (*current, turn)
            if turn.role == "user" and (following is None or following.role != "assistant"):
                rounds.append(current)
                current = ()
        return rounds

    def to_json(self) -> str:
        """Serialise the prompt as JSON with images as digests; injective."""
        turns = [
            [turn.role, [{"image": p.sha256} if isinstance(p, Image) else p for p in turn.parts]]
            for turn in self.turns
        ]
        return json.dumps(turns, ensure_ascii=False, separators=(",", ":"))

    def without_images(self) -> "Prompt":
        """The conversation without images, for blind runs."""
        turns = (
            Turn(turn.role, tuple(p for p in turn.parts if not isinstance(p, Image)))
            for turn in self.turns
        )
        return Prompt(tuple(turns))


@lru_cache(maxsize=10_000)  # needed three times per request
def _prompt_digest(prompt: Prompt) -> str:
    return hashlib.sha256(prompt.to_json().encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """Decoding parameters; part of a response's identity.

    Attributes:
        temperature: 0 is greedy decoding.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 1024
    seed: int | None = None

    def __str__(self) -> str:
        """Short form for signatures: ``t=0,max=1024``."""
        parts = [f"t={self.temperature:g}", f"max={self.max_tokens}"]
        if self.top_p != 1.0:
            parts.append(f"top_p={self.top_p:g}")
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return ",".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request: a prompt and a sample number.

    Attributes:
        temperature: Overrides the model's configured one; None keeps it.
        question: For baselines and recorded responses; engines ignore it.
        name: Finds the recorded response to a request without a question.
        elicit: Elicitation method, see ``core.schema.elicitation``; "" generates text.
        options: Options to elicit, in the order shown.
    """

    prompt: Prompt
    sample: int = 0
    temperature: float | None = None
    question: Question | None = None
    name: str = ""
    elicit: Literal["", "likelihood", "constrained"] = ""
    options: tuple[str, ...] = ()

    @property
    def elicitation_key(self) -> str:
        """Elicitation as part of a response's key; "" for generated text."""
        return json.dumps([self.elicit, *self.options], ensure_ascii=False) if self.elicit else ""


CONTENT_FILTER = "content filter"
IMAGE_REFUSED = "image not accepted"
CONTEXT_FULL = "context full"
REQUEST_REFUSED = "request refused"
REFUSALS = (CONTENT_FILTER, IMAGE_REFUSED, CONTEXT_FULL, REQUEST_REFUSED)
"""Kinds of refusals by a provider or an engine: the same request is refused every time."""

_FILTER_REASONS = ("content_filter", "refusal")
_OPEN_PUNCTUATION = tuple(",;:、，；：(（")
_MAX_WORD_LENGTH = 4  # Chinese characters that count as a single word
# Letters of scripts without spaces.
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Response:
    """A model's response; if ``error`` is set, there is none.

    Attributes:
        image_tokens: Tokens of each image; () if the engine does not report them.
        note: Changes to the request that the model required, such as a resized image.
        served: Model, snapshot and build that the server reports; "" if it reports none.
        refused: Kind of a permanent refusal, one of ``REFUSALS``; ``error`` is then set too.
        thinking_tags: The model's reasoning tags, if they are not among the known ones.
        logprobs: Normalized log-probability of each option, if likelihoods were elicited.
        raw_text: The model's output, if ``text`` was derived from it.
    """

    text: str = ""
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    image_tokens: tuple[int, ...] = ()
    seconds: float | None = None
    note: str = ""
    served: str = ""
    error: str = ""
    refused: str = ""
    thinking_tags: Tags | None = None
    logprobs: tuple[float, ...] = ()
    raw_text: str = ""

    def __repr__(self) -> str:
        """The fields that are set."""
        shown = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"Response({', '.join(shown)})"

    @classmethod
    def combine(cls, responses: Sequence["Response"]) -> "Response":
        """Combine the responses to the rounds of one prompt.

        Prompt and completion tokens, seconds and serving models are those of all rounds; the text
        and all else are of the last.
        """
        served = dict.fromkeys(response.served for response in responses if response.served)
        return replace(
            responses[-1],
            served=" + ".join(served),
            prompt_tokens=_sum_known([response.prompt_tokens for response in responses]),
            completion_tokens=_sum_known([response.completion_tokens for response in responses]),
            seconds=_sum_known([response.seconds for response in responses]),
        )

    @property
    def parts(self) -> ReasoningSplit:
        """The text, split into reasoning and answer."""
        return split_reasoning(self.text, self.thinking_tags)

    @property
    def refusal(self) -> str:
        """Kind of a permanent refusal by the provider; "" for none.

        An empty response ended by a content filter is a refusal of the kind "content filter".
        """
        if self.refused or self.error:
            return self.refused
        is_filtered = self.finish_reason in _FILTER_REASONS and not self.parts.answer.strip()
        return CONTENT_FILTER if is_filtered else ""

    @property
    def no_answer(self) -> str:
        """Message that the response was truncated before an answer; "" otherwise.

        Unfinished reasoning, an empty response at the token limit, and a text that a content filter
        broke off within a sentence count as truncated.
        """
        split = self.parts
        answer = split.answer.strip()
        is_empty = self.finish_reason == "length" and not answer
        if self.error:
            return ""
        if self.finish_reason == "content_filter" and _ends_mid_sentence(answer):
            return "broken off by a content filter"
        if split.finished and not is_empty:
            return ""
        if self.completion_tokens is None:
            return "no answer before it was cut off"
        return f"no answer in {self.completion_tokens} tokens"


def _ends_mid_sentence(text: str) -> bool:
    """Whether a text of more than one word stops within a sentence."""
    is_unspaced_text = len(text) > _MAX_WORD_LENGTH and _UNSPACED.search(text) is not None
    has_several_words = is_unspaced_text or len(text.split()) > 1
    return has_several_words and (text[-1:].isalnum() or text.endswith(_OPEN_PUNCTUATION))


def _sum_known(numbers: Sequence[Number | None]) -> Number | None:
    """Sum of the known numbers; None if none is known."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


@runtime_checkable
class ElicitsOptions(Protocol):
    """Protocol of chat models and engines that can choose one of several options.

    The text of the response is the chosen option (``constrained``), or JSON with the
    log-probabilities (``likelihood``).
    """

    @property
    def elicits(self) -> Collection[str]:
        """Supported methods: ``likelihood``, ``constrained``, or both."""
        ...


class ChatModel(Protocol):
    """Port of chat models: local models, servers, baselines and recorded responses."""

    @property
    def name(self) -> str:
        """The name under which responses are stored and shown."""
        ...

    @property
    def signature(self) -> str:
        """Identity of the model and its decoding parameters."""
        ...

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order.

        A request that fails after the model's own retries gets a response with ``error``.

        Raises:
            ModelError: If the model cannot be called at all.
        """
        ...


@runtime_checkable
class PromptlessModel(Protocol):
    """Chat models that look up responses by question, whatever the prompt."""

    @property
    def is_promptless(self) -> Literal[True]:
        """Always true."""
        ...


NO_PROMPT = Prompt(())
"""Prompt of a question that only promptless models can answer."""

NOT_CACHED = "its response is not cached"
"""Error of an uncached request to a model that is restricted to its cache."""


@runtime_checkable
class CachedResponses(Protocol):
    """Chat models whose responses are cached."""

    def cached(self) -> ChatModel:
        """The same model without sending: uncached requests get the error ``NOT_CACHED``."""
        ...


def cached(model: ChatModel) -> ChatModel:
    """Restrict a model to its cached responses; one without a cache is returned unchanged."""
    return model.cached() if isinstance(model, CachedResponses) else model


Vectors: TypeAlias = npt.NDArray[np.float32]
"""A unit vector per text or image, ``(n, dimensions)``: the dot product of two is their cosine."""


class TextEncoder(Protocol):
    """Port of text encoders."""

    @property
    def name(self) -> str:
        """The name to show and to put into signatures, with a digest of the weights."""
        ...

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """Embed each text, in order; ``(n, dimensions)``, also for no texts at all."""
        ...


class ImageTextEncoder(TextEncoder, Protocol):
    """Port of encoders for texts and images in a common space, such as CLIP."""

    def encode_images(self, images: Sequence[str]) -> Vectors:
        """Embed each image, by its SHA-256, in order; ``(n, dimensions)``.

        Raises:
            ImageError: If an image is not in the image store.
        """
        ...


MOST_TOKENS = 10**9  # tokens of a response; a higher count is not credible
_MAX_NAME_LENGTH = 400  # characters of ``served`` and of ``finish_reason``


def validate_response(response: object) -> Response:
    """Validate a model's response; an invalid one becomes a response with ``error``.

    Text, finish_reason, note and served must be valid Unicode, otherwise the response is invalid.
    Impossible counts and seconds, and a refusal without an error, are dropped; long names are
    truncated. Of a response with an error, only that and a known kind of refusal are kept.

    >>> validate_response(Response(text="A", prompt_tokens=-1)) == Response(text="A")
    True
    >>> validate_response("A").error
    'not a response: str where a Response was expected'
    >>> validate_response(Response(error="blocked", refused=CONTENT_FILTER)).refused
    'content filter'
    """
    if not isinstance(response, Response):
        return Response(
            error=f"not a response: {type(response).__name__} where a Response was expected"
        )
    if response.error:
        refused = response.refused if response.refused in REFUSALS else ""
        return Response(error=escape_surrogates(str(response.error)), refused=refused)
    for name in ("text", "finish_reason", "note", "served"):
        if problem := _text_problem(getattr(response, name)):
            return Response(error=f"not a response: its {name} is {problem}")
    return replace(
        response,
        text=str(response.text),
        finish_reason=str(response.finish_reason)[:_MAX_NAME_LENGTH],
        note=str(response.note),
        served=str(response.served)[:_MAX_NAME_LENGTH],
        prompt_tokens=token_count(response.prompt_tokens),
        completion_tokens=token_count(response.completion_tokens),
        image_tokens=_image_token_counts(response.image_tokens),
        seconds=_valid_seconds(response.seconds),
        error="",
        refused="",
    )


def escape_surrogates(text: str) -> str:
    r"""Escape lone surrogates as JSON does, so that a text can be stored and printed.

    >>> escape_surrogates("no \ud83d")
    'no \\ud83d'
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def token_count(value: object) -> int | None:
    """Validate a number of tokens; None if it is invalid.

    >>> token_count(12), token_count("12"), token_count(True), token_count(2**63)
    (12, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        return None
    count = int(value)  # also of numpy's integers, which SQLite does not accept
    return count if 0 <= count <= MOST_TOKENS else None


def _text_problem(value: object) -> str:
    """Why a value is not a text in valid Unicode; "" if it is."""
    if not isinstance(value, str):
        return f"not text but {type(value).__name__}"
    return "" if escape_surrogates(value) == value else "not valid Unicode"


def _image_token_counts(value: object) -> tuple[int, ...]:
    """Tokens of each image; () if one is unknown."""
    counts = tuple(map(token_count, value)) if isinstance(value, tuple | list) else ()
    valid_counts = tuple(count for count in counts if count is not None)
    return valid_counts if len(valid_counts) == len(counts) else ()


def _valid_seconds(value: object) -> float | None:
    """Validate a duration; None if it is not a finite number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    return seconds if 0.0 <= seconds < inf else None
