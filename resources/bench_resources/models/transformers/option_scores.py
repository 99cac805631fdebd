"""Options of a local checkpoint: their log-probabilities, or generation of exactly one of them.

Both are logits processors of ``generate``, which handles the positions, caches and images of all
families. If each option is one token, as letters are, one forward pass of the batch gives all
log-probabilities; else there is one pass per option, with its tokens forced.
"""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from bench_assets.core.reading.reasoning import Tags, find_opening_tag
from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.elicitation import OptionLikelihoods
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

    before = ending or _ANCHOR
    before_tokens = encode(before)
    token_sets = []
    for option in options:
        joined = encode(f"{before}{delimiter}{option}")
        joins = (
            joined[: len(before_tokens)] != before_tokens
        )  # the option would change the prompt's last token
        token_sets.append(encode(f"{delimiter}{option}") if joins else joined[len(before_tokens) :])
    if not all(token_sets):
        raise ValueError(f"an option has no tokens: {list(options)}")
    return token_sets


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
    prepared: PromptBatch,
    draw: Draw,
    options: Sequence[OptionTokens],
    *,
    ends: Sequence[int],
    choosers: Sequence[Any],
    generate: Generate,
) -> list[Response]:
    """Answer a batch of conversations by likelihoods, or by one option each.

    Args:
        prepared: The prompts.
        draw: The method, and the options as texts.
        options: The options of each conversation, as tokens.
        ends: End tokens of the model.
        choosers: Further logits processors for constrained generation.
        generate: Runs the model.
    """
    start = time.perf_counter()
    if draw.elicit == "likelihood":
        scores = likelihoods(options, generate)
        texts = [
            OptionLikelihoods(tuple(sums), tuple(map(len, of))).to_json()
            for sums, of in zip(scores, options, strict=True)
        ]
    else:
        longest = max(len(option) for of in options for option in of)
        trie = OneOfOptions(options, ends)
        new = generate([trie, *choosers], longest + bool(ends))
        chosen = [_chosen_option(row, of) for row, of in zip(new, options, strict=True)]
        texts = [option_texts[n] for option_texts, n in zip(draw.options, chosen, strict=True)]
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
    if all(len(tokens) == 1 for of in options for tokens in of):
        first = FirstTokens([[tokens[0] for tokens in of] for of in options])
        generate([first], 1)
        return first.logprobs
    passes = []
    for n in range(max(map(len, options))):
        forced = ForcedTokens([of[min(n, len(of) - 1)] for of in options])
        generate([forced], forced.longest)
        passes.append(forced.sums)
    return [[sums[row] for sums in passes[: len(of)]] for row, of in enumerate(options)]


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

        rows = scores.float().log_softmax(dim=-1)
        forced = torch.full_like(scores, float("-inf"))
        for n, tokens in enumerate(self._tokens):
            token = tokens[min(self._step, len(tokens) - 1)]
            if self._step < len(tokens):
                self.sums[n] += float(rows[n, token])
            forced[n, token] = 0.0
        self._step += 1
        return forced


class OneOfOptions:
    """Logits processor that allows only tokens which continue an option, and its end."""

    def __init__(self, options: Sequence[OptionTokens], ends: Sequence[int]) -> None:
        self._options = [[list(tokens) for tokens in of] for of in options]
        self._ends = list(ends)
        self._start: int | None = None

    def __call__(self, input_ids: "Tensor", scores: "Tensor") -> "Tensor":
        """Forbid every other token of scores (batch x vocabulary)."""
        import torch

        if self._start is None:
            self._start = input_ids.shape[1]
        beams = len(input_ids) // len(self._options)
        allowed = torch.full_like(scores, float("-inf"))
        for n, ids in enumerate(input_ids[:, self._start :].tolist()):
            tokens = self._next(self._options[n // beams], ids)
            allowed[n, tokens] = scores[n, tokens]
        return allowed

    def _next(self, options: OptionTokens, written: list[int]) -> list[int]:
        n = len(written)
        continuations = {
            option[n] for option in options if len(option) > n and list(option[:n]) == written
        }
        end_tokens = set(self._ends) if written in options or not continuations else set[int]()
        return sorted(continuations | end_tokens) or [
            options[0][0]
        ]  # without end tokens: filler, cut off


def _chosen_option(new: Sequence[int], options: OptionTokens) -> int:
    """The generated option: the longest one that the tokens begin with."""
    fitting = [n for n, option in enumerate(options) if list(new[: len(option)]) == list(option)]
    if not fitting:
        raise ValueError(f"tokens {list(new)[:8]} are none of the options")
    return max(fitting, key=lambda n: len(options[n]))
