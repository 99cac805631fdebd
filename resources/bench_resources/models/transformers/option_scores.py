"""Options of a local checkpoint: their log-probabilities, and the likeliest of them.

They are read by logits processors of ``generate``, which handles the positions, caches and images
of all families. If each option is one token, as letters are, one forward pass of the batch gives
all log-probabilities; else there is one pass per option, with its tokens forced.
"""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from bench_assets.core.reading.reasoning import Tags, find_opening_tag
from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.elicitation import format_logprobs
from bench_resources.models.transformers.prompt_tensors import PromptBatch
from bench_resources.models.workers.local_model import Draw

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedTokenizerBase

Generate: TypeAlias = Callable[[Sequence[Any], int], Sequence[Sequence[int]]]
"""Logits processors, and how many tokens -> the new tokens of each conversation."""
OptionTokens: TypeAlias = Sequence[Sequence[int]]  # of each option of one conversation

_ANCHOR = "\n"  # in front of an option where the template writes nothing there


def option_tokens(
    tokenizer: "PreTrainedTokenizerBase", ending: str, options: Sequence[str], delimiter: str = ""
) -> list[list[int]]:
    """Tokenize options as they appear after a prompt.

    Args:
        tokenizer: Tokenizer of the checkpoint.
        ending: Text of the chat template after the last message.
        options: Texts of the options.
        delimiter: Text before an option; a blank for base models.

    Raises:
        ValueError: If an option has no tokens.
    """

    def encode(text: str) -> list[int]:
        tokens: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
        return tokens

    prefix = ending or _ANCHOR
    prefix_tokens = encode(prefix)
    n_prefix = len(prefix_tokens)
    tokens_of_options = []
    for option in options:
        tokens = encode(f"{prefix}{delimiter}{option}")
        if tokens[:n_prefix] == prefix_tokens:
            tokens_of_options.append(tokens[n_prefix:])
        else:  # the option would change the prompt's last token
            tokens_of_options.append(encode(f"{delimiter}{option}"))
    if not all(tokens_of_options):
        raise ValueError(f"an option has no tokens: {list(options)}")
    return tokens_of_options


def refuse_open_reasoning(endings: Sequence[str], tags: Tags | None) -> None:
    """Refuse prompts that end within reasoning, so that no answer would follow.

    Raises:
        ValueError: If one does.
    """
    if any(find_opening_tag(ending, tags) for ending in endings):
        raise ValueError(
            "the chat template opens reasoning, after which no option can follow. Turn it off"
            " (chat_template_kwargs = { enable_thinking = false }), or use --elicit generate"
        )


def elicit(
    prepared: PromptBatch, draw: Draw, options: Sequence[OptionTokens], generate: Generate
) -> list[Response]:
    """Answer a batch of conversations by likelihoods, or by the likeliest option each."""
    start = time.perf_counter()
    scores = likelihoods(options, generate)
    if draw.elicit == "constrained":
        likeliest = [sums.index(max(sums)) for sums in scores]
        texts = [choices[i] for choices, i in zip(draw.options, likeliest, strict=True)]
    else:
        texts = [format_logprobs(sums) for sums in scores]
    seconds = (time.perf_counter() - start) / len(texts)
    return [
        Response(
            text=text,
            finish_reason="stop",
            prompt_tokens=prepared.prompt_tokens[n],
            completion_tokens=max(map(len, options[n])),
            image_tokens=prepared.image_tokens[n],
            note=prepared.notes[n],
            seconds=seconds,
        )
        for n, text in enumerate(texts)
    ]


def likelihoods(options: Sequence[OptionTokens], generate: Generate) -> list[list[float]]:
    """Log-probability of each option of each conversation, summed over its tokens."""
    if all(len(tokens) == 1 for choices in options for tokens in choices):
        first = FirstTokens([[token for (token,) in choices] for choices in options])
        generate([first], 1)
        return first.logprobs
    passes = []
    for n in range(max(map(len, options))):
        # A conversation with fewer options repeats its last one, which is left out below.
        forced = ForcedTokens([choices[min(n, len(choices) - 1)] for choices in options])
        generate([forced], forced.longest)
        passes.append(forced.sums)
    return [[sums[row] for sums in passes[: len(choices)]] for row, choices in enumerate(options)]


class FirstTokens:
    """Logits processor that records log-probabilities of tokens at the first step."""

    def __init__(self, tokens: Sequence[Sequence[int]]) -> None:
        self._tokens = tokens
        self.logprobs: list[list[float]] = []

    def __call__(self, input_ids: "Tensor", scores: "Tensor") -> "Tensor":
        """Record; returns the scores (batch x vocabulary) unchanged."""
        if not self.logprobs:
            rows = scores.float().log_softmax(dim=-1)
            self.logprobs = [
                row[list(tokens)].tolist() for row, tokens in zip(rows, self._tokens, strict=True)
            ]
        return scores


class ForcedTokens:
    """Logits processor that forces tokens, and sums their log-probabilities."""

    def __init__(self, tokens: Sequence[Sequence[int]]) -> None:
        self._tokens = tokens
        self._step = 0
        self.sums = [0.0] * len(tokens)

    @property
    def longest(self) -> int:
        """Tokens of the longest row."""
        return max(map(len, self._tokens))

    def __call__(self, input_ids: "Tensor", scores: "Tensor") -> "Tensor":
        """Add up, and allow only the forced token of each row (batch x vocabulary)."""
        import torch

        logprobs = scores.float().log_softmax(dim=-1)
        forced = torch.full_like(scores, float("-inf"))
        for row, tokens in enumerate(self._tokens):
            token = tokens[min(self._step, len(tokens) - 1)]  # an ended row repeats its last one
            if self._step < len(tokens):
                self.sums[row] += float(logprobs[row, token])
            forced[row, token] = 0.0
        self._step += 1
        return forced
