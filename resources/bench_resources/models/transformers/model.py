"""A loaded checkpoint that answers batches of conversations."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any

from PIL import Image as PILImage

from bench_assets.core.reading.reasoning import find_opening_tag
from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.config.sections.local_models import PLAIN_TEMPLATE, TransformersSpec
from bench_resources.models.transformers.detokenization import ResponseTexts, end_tokens_of
from bench_resources.models.transformers.image_tokens import ImageTokens
from bench_resources.models.transformers.loading import (
    hold_load_report,
    load_weights,
    loading_errors,
)
from bench_resources.models.transformers.nan_checks import FiniteCheck
from bench_resources.models.transformers.option_scores import (
    elicit,
    option_tokens,
    refuse_open_reasoning,
)
from bench_resources.models.transformers.processor import load_processor, takes_one_image
from bench_resources.models.transformers.prompt_tensors import PromptBatch, PromptTensors
from bench_resources.models.transformers.sampling import RowSampler
from bench_resources.models.workers.local_model import ContextFullError, Draw, Message

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase

    from bench_resources.models.transformers.processor import Processor


class TransformersModel:
    """Weights and processor.

    Every turn encodes its whole conversation anew: the keys and values of an earlier call only fit
    a prompt that begins with the same tokens, and templates rewrite earlier turns.
    """

    def __init__(
        self, model: "PreTrainedModel", processor: "Processor", spec: TransformersSpec
    ) -> None:
        self.weights = model
        self._spec = spec
        self.processor = processor
        self._tokenizer: PreTrainedTokenizerBase = (
            processor if spec.text_only else processor.tokenizer
        )
        self._end_tokens = end_tokens_of(model, self._tokenizer)
        self._texts = ResponseTexts(self._tokenizer, self._end_tokens, spec.thinking_tags)
        self._generation_config = model.generation_config
        # Else ``generate`` would merge it into ours.
        model.generation_config = type(self._generation_config)()
        if model.config.is_encoder_decoder:
            self._tokenizer.padding_side = "right"  # its positions count from the first token
        self._idle: list[PromptTensors] = []
        self._image_tokens = None if spec.text_only else ImageTokens(deepcopy(processor))

    def count_image_tokens(self, images: Sequence[PILImage.Image]) -> int:
        """Tokens of images in all; 0 if unknown."""
        if self._image_tokens is None:
            return 0
        try:
            return sum(self._image_tokens.count(*image.size) for image in images)
        except ValueError:
            return 0  # a refused image is reported when its request is answered

    def prepare(self, conversations: Sequence[Sequence[Message]]) -> PromptBatch:
        """Make the tensors of a batch, images in the model's dtype; thread-safe."""
        with self._borrow_processor() as tensors:
            prepared = tensors.encode(conversations)
        if not self._spec.text_only:
            prepared.inputs.to(self.weights.dtype)  # in this thread, while the device is busy
        return prepared

    def answer(self, prepared: PromptBatch, draw: Draw) -> list[Response]:
        """Generate the next turn of each conversation.

        ``seconds`` is the batch's time divided by its size. A response whose scores became NaN or
        infinite has ``error``.
        """
        start = time.perf_counter()
        finite_check = FiniteCheck()
        if draw.elicit:
            responses = self._elicit(prepared, draw, finite_check)
        else:
            samplers = [RowSampler(draw)] if draw.temperature else []
            new_tokens = self._generate(prepared, draw, [finite_check, *samplers])
            seconds = (time.perf_counter() - start) / len(new_tokens)
            responses = [
                self._to_response(tokens, row, prepared, seconds)
                for row, tokens in enumerate(new_tokens)
            ]
        bad_from = finite_check.first_bad_tokens(len(responses))
        return list(map(_flag_bad_numbers, responses, bad_from))

    def scores(self, prepared: PromptBatch, steps: int) -> "list[list[Tensor]]":
        """The scores of the first tokens of each conversation, one vector a step."""
        collected: list[Tensor] = []

        def collect(_: "Tensor", scores: "Tensor") -> "Tensor":
            collected.append(scores.detach().float().cpu())
            return scores

        n = len(prepared.prompt_tokens)
        draw = Draw(max_tokens=steps, temperature=0.0, top_p=1.0, seeds=[""] * n)
        self._generate(prepared, draw, [collect])
        return [[step[row] for step in collected] for row in range(n)]

    def _generate(
        self, prepared: PromptBatch, draw: Draw, processors: Sequence[Any]
    ) -> list[list[int]]:
        """The new tokens of each conversation."""
        import torch

        self._refuse_too_long(prepared, draw)
        with torch.inference_mode():
            inputs = prepared.inputs.to(self.weights.device)
            tokens = self.weights.generate(
                **inputs,
                generation_config=self._build_generation_config(draw),
                logits_processor=list(processors),
            )
        new_tokens: list[list[int]] = self._cut_prompt(tokens, inputs["input_ids"]).tolist()
        return new_tokens

    def _elicit(self, prepared: PromptBatch, draw: Draw, check: FiniteCheck) -> list[Response]:
        """Answer by the likelihoods of the options, or by the likeliest one."""
        refuse_open_reasoning(prepared.endings, self._spec.thinking_tags)
        delimiter = " " if self._spec.chat_template == PLAIN_TEMPLATE else ""
        tokens = [
            option_tokens(self._tokenizer, ending, options, delimiter)
            for ending, options in zip(prepared.endings, draw.options, strict=True)
        ]

        def generate(processors: Sequence[Any], n: int) -> list[list[int]]:
            short_draw = replace(draw, max_tokens=n)
            return self._generate(prepared, short_draw, [check, *processors])

        return elicit(prepared, draw, tokens, generate)

    @contextmanager
    def _borrow_processor(self) -> Iterator[PromptTensors]:
        """Lend a processor to one thread at a time: tokenizers are not thread-safe."""
        try:
            tensors = self._idle.pop()
        except IndexError:
            takes_token_types = "mm_token_type_ids" in signature(self.weights.forward).parameters
            tensors = PromptTensors(
                deepcopy(self.processor),
                self._image_tokens,
                variables=self._spec.chat_template_kwargs,
                one_image=takes_one_image(self._spec, self.processor),
                token_types=self._image_tokens is not None and takes_token_types,
            )
        try:
            yield tensors
        finally:
            self._idle.append(tensors)

    def _refuse_too_long(self, prepared: PromptBatch, draw: Draw) -> None:
        longest = max(prepared.prompt_tokens)
        required = longest if self.weights.config.is_encoder_decoder else longest + draw.max_tokens
        if self.context and required > self.context:
            has_room = longest < self.context
            remedy = "Set a smaller max_tokens" if has_room else "Take a model with a longer one"
            raise ContextFullError(
                f"the prompt has {longest} tokens, which with max_tokens = {draw.max_tokens} exceed"
                f" the context of {self.context} tokens. {remedy}"
            )

    @cached_property
    def context(self) -> int | None:
        """Maximum tokens of prompt and response; None if unknown."""
        text = self.weights.config.get_text_config()
        limit = getattr(text, "max_position_embeddings", None)
        return limit if isinstance(limit, int) and limit > 0 else None

    def _build_generation_config(self, draw: Draw) -> "GenerationConfig":
        """A fresh configuration without the checkpoint's own sampling fields."""
        from transformers import GenerationConfig

        return GenerationConfig(
            max_new_tokens=draw.max_tokens,
            do_sample=False,  # RowSampler samples by changing the scores
            eos_token_id=sorted(self._end_tokens) or None,
            pad_token_id=self._tokenizer.pad_token_id,
            bos_token_id=self._generation_config.bos_token_id,
            decoder_start_token_id=self._generation_config.decoder_start_token_id,
            forced_bos_token_id=self._generation_config.forced_bos_token_id,
        )

    def _cut_prompt(self, tokens: "Tensor", prompt: "Tensor") -> "Tensor":
        """Cut the prompt off; some families return only new tokens.

        BLIP replaces the first token of the prompt, and leaves out the last one.
        """
        if self.weights.config.is_encoder_decoder:
            return tokens[:, 1:]
        n = prompt.shape[1]
        for first, length in ((0, n), (1, n - 1)):
            echoed = prompt[:, first:length]
            if bool(echoed.numel()) and tokens[:, first:length].equal(echoed):
                return tokens[:, length:]
        return tokens

    def _to_response(
        self, tokens: list[int], row: int, batch: PromptBatch, seconds: float
    ) -> Response:
        """Make the response of a row's new tokens, which end at the first end token."""
        lengths = (n for n, token in enumerate(tokens, start=1) if token in self._end_tokens)
        length = next(lengths, None)
        opening_tag = find_opening_tag(batch.endings[row], self._spec.thinking_tags)
        return Response(
            text=opening_tag + self._texts.decode(tokens[:length]),
            finish_reason="length" if length is None else "stop",
            prompt_tokens=batch.prompt_tokens[row],
            completion_tokens=length or len(tokens),
            image_tokens=batch.image_tokens[row],
            note=batch.notes[row],
            seconds=seconds,
        )


def _flag_bad_numbers(response: Response, bad_from: int | None) -> Response:
    """Replace a response by an error if the scores of one of its tokens are not finite."""
    if bad_from is None or bad_from >= (response.completion_tokens or 0):
        return response  # tokens after its end do not count
    return Response(
        error=f"the model's scores are NaN or infinite from token {bad_from + 1} of the response on"
        " (too large for its dtype?)"
    )


def load(spec: TransformersSpec, checkpoint: Checkpoint) -> TransformersModel:
    """Load a checkpoint onto its device.

    Raises:
        ModelError: If it does not load, lacks tensors, or has no chat template.
    """
    from transformers.utils import logging

    logging.disable_progress_bar()  # ours shows the progress
    with hold_load_report(checkpoint.location), loading_errors(checkpoint.location):
        processor = load_processor(spec, checkpoint)
        model = load_weights(spec, checkpoint)
        if getattr(model, "generation_config", None) is None:
            raise ModelError(f"{checkpoint.location}: {type(model).__name__} generates no text")
    return TransformersModel(model, processor, spec)
