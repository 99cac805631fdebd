"""Elicited model: a wrapper that elicits one of the options from a model instead of a text."""

from collections.abc import Sequence
from dataclasses import replace
from string import ascii_uppercase

from bench_assets.core.schema.chat import (
    ChatModel,
    ElicitsOptions,
    Prompt,
    Request,
    Response,
    cached,
)
from bench_assets.core.schema.elicitation import (
    Elicitation,
    OptionLikelihoods,
    elicited_signature,
    normalize_logprobs,
)
from bench_assets.core.schema.errors import ModelError, SettingsError

_EMPTY_PROMPT = Prompt.of("")
"""The prompt of unconditional likelihoods: an empty turn, in the model's own chat template."""


class ElicitedModel:
    """Elicits likelihoods of the options from a model, or exactly one of the options.

    The text of a response is the letter of the answer, which every scorer can parse.
    """

    def __init__(self, inner: ChatModel, name: str, elicitation: Elicitation) -> None:
        """Wrap a model.

        Raises:
            ModelError: If it does not support the method.
        """
        able = inner.elicits if isinstance(inner, ElicitsOptions) else ()
        if elicitation.method not in able:
            raise ModelError(
                f"{inner.name}: does not support {elicitation.method} (expected a local"
                " checkpoint, or a server with the OpenAI format); use --elicit generate"
            )
        self.inner = inner
        self.name = name
        self._how = elicitation

    @property
    def signature(self) -> str:
        """The wrapped model's signature, with the method and its parameters."""
        return elicited_signature(self.inner.signature, self._how)

    def cached(self) -> ChatModel:
        """The same over the cached responses of the wrapped model."""
        return ElicitedModel(cached(self.inner), self.name, self._how)

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order.

        Raises:
            SettingsError: If a question does not have exactly one right option.
            ModelError: As the wrapped model.
        """
        self._require_options(requests)
        elicited = [self._elicited_request(request) for request in requests]
        prior = self._how.normalization == "unconditional"
        priors = [replace(request, prompt=_EMPTY_PROMPT) for request in elicited] if prior else []
        responses = self.inner.response([*elicited, *priors])
        conditional, unconditional = responses[: len(elicited)], responses[len(elicited) :]
        return list(map(self._read, elicited, conditional, unconditional or conditional))

    def _require_options(self, requests: Sequence[Request]) -> None:
        """Reject questions without options before the first request is sent."""
        questions = [request.question for request in requests]
        lacking = [question for question in questions if not (question and question.has_options)]
        if not lacking:
            return
        if (first := lacking[0]) is None:
            raise SettingsError(f"{self.name}: it can answer only questions with options")
        raise SettingsError(
            f"{first.task}: {self._how.method} cannot be elicited: {len(lacking)} of"
            f" {len(questions)} questions do not have options of which exactly one is right (such"
            f" as {first.question_id}, kind {first.kind}); use --elicit generate"
        )

    def _elicited_request(self, request: Request) -> Request:
        question = request.question
        assert question is not None  # _require_options saw all of them
        method = self._how.method
        if method == "likelihood" and request.sample:
            raise SettingsError(
                f"{question.task}: likelihood cannot be elicited where several responses are drawn"
                " for a question: they would be equal; use --elicit generate"
            )
        temperature = None if method == "likelihood" else request.temperature
        options = self._how.options(question)
        return replace(request, elicit=method, options=options, temperature=temperature)

    def _read(self, request: Request, conditional: Response, prior: Response) -> Response:
        for response in (conditional, prior):
            if response.error or response.refusal:
                return response
        letters = ascii_uppercase[: len(request.options)]
        try:
            if self._how.method == "constrained":
                letter = letters[request.options.index(conditional.text)]
                return replace(conditional, text=letter, raw_text=conditional.text)
            likelihoods, unconditional = (
                OptionLikelihoods.from_json(answered.text, len(letters))
                for answered in (conditional, prior)
            )
        except ValueError as exc:
            return Response(error=f"not one of the options: {exc}")
        if prior is not conditional and unconditional.bounds:
            return Response(error=f"no unconditional likelihood: {_describe_bounds(unconditional)}")
        scores = normalize_logprobs(
            likelihoods, request.options, self._how.normalization, unconditional
        )
        letter = letters[scores.index(max(scores))]
        return replace(
            conditional,
            text=letter,
            raw_text=conditional.text,
            logprobs=scores,
            note="; ".join(filter(None, (conditional.note, _describe_bounds(likelihoods)))),
            served=Response.together((prior, conditional)).served,
        )


def _describe_bounds(found: OptionLikelihoods) -> str:
    """Name the options with only an upper bound; "" for none."""
    letters = ", ".join(ascii_uppercase[bound] for bound in found.bounds)
    return f"not among the likeliest tokens: {letters}" if letters else ""
