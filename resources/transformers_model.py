"""A checkpoint in memory: answers one batch of conversations.

The only module that touches torch and transformers to generate text; both are imported inside,
because they take seconds.
"""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from bench_assets.core.chat import Reply
from bench_assets.core.errors import ModelError
from resources.batches import Draw
from resources.checkpoints import Checkpoint, first_line
from resources.model_specs import TransformersSpec
from resources.transformers_prompts import Message

if TYPE_CHECKING:
    from torch import Generator, Tensor
    from transformers import BatchFeature, PreTrainedModel, PreTrainedTokenizerBase, ProcessorMixin

    Processor: TypeAlias = ProcessorMixin | PreTrainedTokenizerBase


class TransformersModel:
    """Weights, and the processor that turns conversations into tensors.

    Every turn reads its whole conversation anew. ``generate`` can go on from the keys and values
    of an earlier call, but only where the new prompt begins with the very tokens of the old one.
    Here it does not: some chat templates rewrite earlier turns, thoughts are taken out of them,
    and the text of a reply need not come back as the tokens that were drawn. In a batch, replies
    of unequal length would leave padding inside the conversations besides.
    """

    def __init__(self, model: "PreTrainedModel", processor: "Processor", text_only: bool) -> None:
        self._model = model
        self._processor = processor
        self._tokenizer = processor if text_only else processor.tokenizer
        self._text_only = text_only

    def answer(self, conversations: Sequence[Sequence[Message]], draw: Draw) -> list[Reply]:
        """Generate the next turn of each conversation.

        ``seconds`` is the batch's time divided by its size: what a reply cost.

        Raises:
            ValueError: If the chat template or the processor cannot take a conversation.
            RuntimeError: If memory runs out, among others.
        """
        import torch

        start = time.perf_counter()
        with torch.inference_mode():
            inputs = self._tensors(conversations)
            tokens = self._model.generate(
                **inputs,
                max_new_tokens=draw.max_tokens,
                do_sample=False,  # where it is not greedy, Sampled adds the chance
                logits_processor=[Sampled(draw)] if draw.temperature else [],
                pad_token_id=self._tokenizer.pad_token_id,
            )
        new = tokens[:, inputs["input_ids"].shape[1] :].tolist()
        prompt_tokens = inputs["attention_mask"].sum(dim=1).tolist()
        seconds = (time.perf_counter() - start) / len(conversations)
        return [self._reply(*row, seconds) for row in zip(new, prompt_tokens, strict=True)]

    def _tensors(self, conversations: Sequence[Sequence[Message]]) -> "BatchFeature":
        from jinja2 import TemplateError

        padding = {"padding": True}
        if self._text_only:
            conversations = [[_as_text(said) for said in talk] for talk in conversations]
        try:
            inputs = self._processor.apply_chat_template(
                conversations,
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
                sanitize_control_tokens=True,  # "<image>" in a question's text is text
                **(padding if self._text_only else {"processor_kwargs": padding}),
            )
        except TemplateError as why:
            raise ValueError(f"the chat template refuses the conversation: {why}") from why
        precision = {} if self._text_only else {"dtype": self._model.dtype}  # of the pictures
        return inputs.to(self._model.device, **precision)

    def _reply(self, new: list[int], prompt_tokens: int, seconds: float) -> Reply:
        ends = self._model.generation_config.eos_token_id
        stops = {ends} if isinstance(ends, int) else set(ends or ())
        length = next((n for n, token in enumerate(new, 1) if token in stops), None)
        return Reply(
            text=self._tokenizer.decode(new[:length], skip_special_tokens=True),
            finish_reason="length" if length is None else "stop",
            prompt_tokens=prompt_tokens,
            completion_tokens=length or len(new),
            seconds=seconds,
        )


def load(spec: TransformersSpec, checkpoint: Checkpoint) -> TransformersModel:
    """Load a checkpoint onto its device.

    Raises:
        ModelError: If it does not load, lacks tensors, or has no chat template.
    """
    from safetensors import SafetensorError
    from transformers.utils import logging

    logging.disable_progress_bar()  # ours shows how far an asking has come
    try:
        model, missing = _weights(spec, checkpoint)
        processor = _processor(spec, checkpoint)
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as why:
        raise ModelError(f"{checkpoint.location}: does not load: {first_line(why)}") from why
    if missing:
        raise ModelError(
            f"{checkpoint.location}: {len(missing)} tensors are missing, such as {min(missing)}"
        )
    if not processor.chat_template:
        raise ModelError(f"{checkpoint.location}: has no chat template; is it a base model?")
    return TransformersModel(model, processor, spec.text_only)


def device_of(written: str) -> str:
    """Choose the device: the one that is configured, or for "auto" the first there is."""
    if written != "auto":
        return written
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def dtype_of(spec: TransformersSpec) -> str:
    """Choose the precision: the one that is configured, or bfloat16 on CUDA, else float32."""
    if spec.dtype != "auto":
        return spec.dtype
    return "bfloat16" if device_of(spec.device).startswith("cuda") else "float32"


def _weights(spec: TransformersSpec, checkpoint: Checkpoint) -> tuple["PreTrainedModel", set[str]]:
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

    kind = AutoModelForCausalLM if spec.text_only else AutoModelForImageTextToText
    model, loading = kind.from_pretrained(
        checkpoint.location,
        dtype=getattr(torch, dtype_of(spec)),
        device_map=device_of(spec.device),
        output_loading_info=True,
        **_origin(spec, checkpoint),
    )
    model.generation_config.max_length = None  # some publish one; beside ours it causes warnings
    if spec.compile:
        # Not the whole model: every other number of pictures would be another graph, and torch
        # makes eight of them before it gives up.
        model.get_decoder().compile(dynamic=True)
    return model.eval(), set(loading["missing_keys"])


def _processor(spec: TransformersSpec, checkpoint: Checkpoint) -> "Processor":
    from transformers import AutoProcessor, AutoTokenizer

    kind = AutoTokenizer if spec.text_only else AutoProcessor
    processor = kind.from_pretrained(checkpoint.location, **_origin(spec, checkpoint))
    tokenizer = processor if spec.text_only else getattr(processor, "tokenizer", None)
    if tokenizer is None:  # what AutoProcessor gives back where one half is missing
        raise ValueError("no processor of texts and pictures (processor_config.json)")
    tokenizer.padding_side = "left"
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    processor.chat_template = processor.chat_template or tokenizer.chat_template
    return processor


def _origin(spec: TransformersSpec, checkpoint: Checkpoint) -> dict[str, Any]:
    origin: dict[str, Any] = {
        "revision": checkpoint.revision,
        "trust_remote_code": spec.trust_remote_code,
    }
    return origin | ({"gguf_file": spec.gguf_file} if spec.gguf_file else {})


def _as_text(said: Message) -> Message:
    # Templates of language models put strings together; parts are for those that see.
    return said | {"content": "".join(part["text"] for part in said["content"])}


class Sampled:
    """Draws each token with the conversation's own chance, whoever else is in the batch.

    The largest of log-probability plus Gumbel noise is a draw from the distribution; each
    conversation has a generator of its own.
    """

    def __init__(self, draw: Draw) -> None:
        from transformers import TemperatureLogitsWarper, TopPLogitsWarper

        self._warm = TemperatureLogitsWarper(draw.temperature)
        self._cut = TopPLogitsWarper(draw.top_p)
        self._seeds = draw.seed_numbers
        self._generators: list[Generator] = []

    def __call__(self, input_ids: "Tensor", scores: "Tensor") -> "Tensor":
        """Change scores (batch x vocabulary) so that the largest of a row is the token drawn."""
        import torch

        if not self._generators:
            self._generators = [
                torch.Generator(scores.device).manual_seed(seed) for seed in self._seeds
            ]
        kept = self._cut(input_ids, self._warm(input_ids, scores.float()))
        chance = torch.empty_like(kept)
        for row, generator in zip(chance, self._generators, strict=True):
            row.exponential_(generator=generator)
        drawn: Tensor = kept - chance.log()  # minus the logarithm of an exponential is Gumbel noise
        return drawn
