"""A checkpoint asked by the code of its model card: one prompt at a time, without padding."""

import io
from pathlib import Path
from typing import Any

from PIL import Image as PILImage

from bench_assets.core.reading.reasoning import THOUGHTS
from bench_assets.core.schema.chat import Image, Prompt, Turn
from tests.families.questions import IMAGES

MAX_TOKENS = 12


class Card:
    """Weights loaded by the class that config.json names, and a processor."""

    def __init__(self, folder: Path, processor: Any, *, plain: bool) -> None:
        """Load the weights.

        Args:
            folder: The checkpoint.
            processor: Its processor, however it was loaded.
            plain: Whether the release has no chat template: its processor gets text and image.
        """
        import torch
        import transformers

        config = transformers.AutoConfig.from_pretrained(folder)
        model_class: Any = getattr(transformers, config.architectures[0])
        if hasattr(config, "thinker_config"):  # Qwen-Omni without its speech
            thinker = transformers.AutoModelForImageTextToText.from_config(config.thinker_config)
            model_class = type(thinker)
        self._model = model_class.from_pretrained(folder, dtype=torch.float32).eval()
        self._processor = processor
        # BLIP's ``generate`` returns one token less than the prompt has before the response.
        self._n_missing = int(config.model_type == "blip")
        self._needs_token_types = "Cosmos3" in type(processor).__name__
        self._plain = plain
        self._decoding = _greedy_decoding(self._model.generation_config)
        # ``generate`` would take settings that ours leaves open from the published ones.
        self._model.generation_config = transformers.GenerationConfig()
        self._cuts_prompt = not config.is_encoder_decoder

    def ask(self, prompt: Prompt) -> tuple[str, int]:
        """Answer a prompt; returns the response and the number of the prompt's tokens."""
        import torch

        inputs = self._inputs(prompt).to("cpu", dtype=torch.float32)
        length = inputs["input_ids"].shape[1]
        with torch.inference_mode():
            tokens = self._model.generate(**inputs, generation_config=self._decoding)[0]
        new = tokens[length - self._n_missing :] if self._cuts_prompt else tokens
        return self._processor.tokenizer.decode(new, skip_special_tokens=True), length

    def _inputs(self, prompt: Prompt) -> Any:
        if not self._plain:
            try:
                return self._apply_template([_message(turn) for turn in prompt.turns])
            except TypeError:  # a template that concatenates contents as strings
                return self._apply_template([_with_strings(turn) for turn in prompt.turns])
        [text] = (part for turn in prompt.turns for part in turn.parts if isinstance(part, str))
        images = [_open_image(image) for image in prompt.images]
        return self._processor(text=text, images=images, return_tensors="pt")

    def _apply_template(self, conversation: list[dict[str, Any]]) -> Any:
        # Cosmos 3 returns the types of tokens, which its model needs, only on request.
        types = {"return_mm_token_type_ids": True} if self._needs_token_types else {}
        return self._processor.apply_chat_template(
            conversation,
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs=types,
        )


def without_marks(text: str) -> str:
    """Remove the marks around thoughts, which the engine keeps and the card's code drops."""
    for form in THOUGHTS:
        text = text.replace(form.opening, "").replace(form.closing, "")
    return text


def _greedy_decoding(published: Any) -> Any:
    """Greedy decoding with the first and last tokens of a published configuration."""
    from transformers import GenerationConfig

    names = ("bos", "eos", "pad", "decoder_start", "forced_bos")
    token_ids = {f"{name}_token_id": getattr(published, f"{name}_token_id") for name in names}
    return GenerationConfig(do_sample=False, max_new_tokens=MAX_TOKENS, **token_ids)


def _message(turn: Turn) -> dict[str, Any]:
    parts = [
        {"type": "image", "image": _open_image(part)}
        if isinstance(part, Image)
        else {"type": "text", "text": part}
        for part in turn.parts
    ]
    return {"role": turn.role, "content": parts}


def _with_strings(turn: Turn) -> dict[str, Any]:
    """A message whose content is a string, if it has no image."""
    if any(isinstance(part, Image) for part in turn.parts):
        return _message(turn)
    return {"role": turn.role, "content": "".join(map(str, turn.parts))}


def _open_image(image: Image) -> PILImage.Image:
    return PILImage.open(io.BytesIO(IMAGES[image.sha256])).convert("RGB")
