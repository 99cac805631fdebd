"""A checkpoint asked as its model card says: no padding, nothing sanitized, one at a time."""

import io
from functools import reduce
from pathlib import Path
from typing import Any

from PIL import Image as PILImage

from bench_assets.core.reading.reasoning import THOUGHTS
from bench_assets.core.schema.chat import Image, Prompt, Turn
from tests.families.questions import IMAGES

MAX_TOKENS = 12


class Card:
    """Weights loaded by the class that config.json names, and a processor."""

    def __init__(self, folder: Path, processor: Any, plain: bool) -> None:
        """Load the weights.

        Args:
            folder: The checkpoint.
            processor: Its processor, however it was loaded.
            plain: The release has no chat template: its card gives the processor text and image.
        """
        import torch
        import transformers

        config = transformers.AutoConfig.from_pretrained(folder)
        kind: Any = getattr(transformers, config.architectures[0])
        if hasattr(config, "thinker_config"):  # Qwen-Omni: the rest of it speaks
            kind = type(transformers.AutoModelForImageTextToText.from_config(config.thinker_config))
        self._model = kind.from_pretrained(folder, dtype=torch.float32).eval()
        self._processor = processor
        self._leaves_out = int(config.model_type == "blip")  # of the prompt, in what it returns
        self._takes_types = "Cosmos3" in type(processor).__name__
        self._plain = plain
        self._decoding = _greedy(self._model.generation_config)
        # Where ours says nothing, ``generate`` would take what is published.
        self._model.generation_config = transformers.GenerationConfig()
        self._cuts_prompt = not config.is_encoder_decoder

    def ask(self, prompt: Prompt) -> tuple[str, int]:
        """Answer a prompt; gives the response and the number of the prompt's tokens."""
        import torch

        inputs = self._inputs(prompt).to("cpu", dtype=torch.float32)
        length = inputs["input_ids"].shape[1]
        with torch.inference_mode():
            tokens = self._model.generate(**inputs, generation_config=self._decoding)[0]
        new = tokens[length - self._leaves_out :] if self._cuts_prompt else tokens
        return self._processor.tokenizer.decode(new, skip_special_tokens=True), length

    def _inputs(self, prompt: Prompt) -> Any:
        if not self._plain:
            try:
                return self._applied([_message(turn) for turn in prompt.turns])
            except TypeError:  # a template that adds what it takes for strings
                return self._applied([_with_strings(turn) for turn in prompt.turns])
        [text] = (part for turn in prompt.turns for part in turn.parts if isinstance(part, str))
        images = [_decoded(image) for image in prompt.images]
        return self._processor(text=text, images=images, return_tensors="pt")

    def _applied(self, conversation: list[dict[str, Any]]) -> Any:
        # Cosmos 3 is told of an image's tokens only where that is asked for.
        types = {"return_mm_token_type_ids": True} if self._takes_types else {}
        return self._processor.apply_chat_template(
            conversation,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs=types,
        )


def without_marks(text: str) -> str:
    """Take the marks around thoughts off, which the engine keeps and the card's way drops."""
    marks = (mark for form in THOUGHTS for mark in (form.opening, form.closing))
    return reduce(lambda kept, mark: kept.replace(mark, ""), marks, text)


def _greedy(published: Any) -> Any:
    """What ends a response and what begins a decoder's, and nothing else of what is published."""
    from transformers import GenerationConfig

    kept = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id")
    return GenerationConfig(
        do_sample=False,
        max_new_tokens=MAX_TOKENS,
        **{name: getattr(published, name) for name in (*kept, "forced_bos_token_id")},
    )


def _message(turn: Turn) -> dict[str, Any]:
    parts = [
        {"type": "image", "image": _decoded(part)}
        if isinstance(part, Image)
        else {"type": "text", "text": part}
        for part in turn.parts
    ]
    return {"role": turn.role, "content": parts}


def _with_strings(turn: Turn) -> dict[str, Any]:
    if any(isinstance(part, Image) for part in turn.parts):
        return _message(turn)
    return {"role": turn.role, "content": "".join(map(str, turn.parts))}


def _decoded(image: Image) -> PILImage.Image:
    return PILImage.open(io.BytesIO(IMAGES[image.sha256])).convert("RGB")
