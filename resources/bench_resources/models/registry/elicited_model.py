"""Elicited model: a wrapper that elicits the likelihoods of options instead of a text."""

from collections.abc import Sequence
from dataclasses import replace
from string import ascii_uppercase

from bench_assets.core.schema.chat import ChatModel, ElicitsOptions, Request, Response, cached
from bench_assets.core.schema.elicitation import (
    LIKELIHOOD,
    Elicitation,
    elicited_signature,
    normalize_logprobs,
    parse_logprobs,
)
from bench_assets.core.schema.errors import ModelError, SettingsError


class ElicitedModel:
    """Elicits likelihoods of the options from a model.

    The text of a response is the letter of the answer, which every scorer can parse.
    """

    def __init__(self, inner: ChatModel, name: str, elicitation: Elicitation) -> None:
        """Wrap a model.

        Raises:
            ModelError: If it does not support the method.
        """
        methods = inner.elicits if isinstance(inner, ElicitsOptions) else ()
        if LIKELIHOOD not in methods:
            raise ModelError(
                f"{inner.name}: does not support {LIKELIHOOD} (expected a"
                ' checkpoint with kind = "transformers"); use --elicit generate'
            )
        self.inner = inner
        self.name = name
        self.signature = elicited_signature(inner.signature, elicitation)
        self._elicitation = elicitation

    def cached(self) -> ChatModel:
        """The same over the cached responses of the wrapped model."""
        return ElicitedModel(cached(self.inner), self.name, self._elicitation)

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order.

        Raises:
            SettingsError: If a request has no question with exactly one right option, or is for a
                further sample.
            ModelError: As the wrapped model.
        """
        self._require_options(requests)
        elicited = [self._elicited_request(request) for request in requests]
        return list(map(self._choose_option, elicited, self.inner.response(elicited)))

    def _require_options(self, requests: Sequence[Request]) -> None:
        """Reject requests without a question that has exactly one right option."""
        questions = [request.question for request in requests]
        unsuitable = [
            question for question in questions if not (question and question.is_single_choice)
        ]
        if not unsuitable:
            return
        first = unsuitable[0]
        if first is None:
            raise SettingsError(f"{self.name}: it can answer only questions with options")
        raise SettingsError(
            f"{first.task}: {LIKELIHOOD} cannot be elicited: {len(unsuitable)} of"
            f" {len(questions)} questions do not have options of which exactly one is right (such"
            f" as {first.question_id}, kind {first.kind}); use --elicit generate"
        )

    def _elicited_request(self, request: Request) -> Request:
        question = request.question
        assert question is not None  # _require_options saw all of them
        if request.sample:
            raise SettingsError(
                f"{question.task}: likelihood cannot be elicited where several responses are drawn"
                " for a question: they would be equal; use --elicit generate"
            )
        options = self._elicitation.options(question)
        return replace(request, elicit="likelihood", options=options, temperature=None)

    def _choose_option(self, request: Request, response: Response) -> Response:
        """Replace the log-probabilities in the text by the letter of the likeliest option.

        A text without them becomes an error.
        """
        if response.error or response.refusal:
            return response
        letters = ascii_uppercase[: len(request.options)]
        try:
            logprobs = parse_logprobs(response.text, len(letters))
        except ValueError as exc:
            return Response(error=f"not one of the options: {exc}")
        scores = normalize_logprobs(logprobs, request.options, self._elicitation.normalization)
        return replace(
            response,
            text=letters[scores.index(max(scores))],
            raw_text=response.text,
            logprobs=scores,
        )
