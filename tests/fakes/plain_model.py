"""A checkpoint in plain transformers: one sequence at a time, without padding or a cache."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image as PILImage


class PlainModel:
    """Log-probabilities by plain forward passes."""

    def __init__(self, checkpoint: str | Path) -> None:
        from transformers import AutoModelForImageTextToText, AutoProcessor

        self.model = AutoModelForImageTextToText.from_pretrained(checkpoint, dtype="float32").eval()
        self.processor = AutoProcessor.from_pretrained(checkpoint)

    def logprob(self, content: Sequence[str | PILImage.Image], option: str) -> float:
        """Log-probability of an option after one turn of texts and images."""
        inputs = self._prompt(content)
        n_prompt_tokens = inputs["input_ids"].shape[1]
        ids, rows = self._forward(inputs, option)
        return sum(float(rows[index - 1, ids[index]]) for index in range(n_prompt_tokens, len(ids)))

    def _prompt(self, content: Sequence[str | PILImage.Image]) -> dict[str, Any]:
        parts = [
            {"type": "text", "text": part}
            if isinstance(part, str)
            else {"type": "image", "image": part}
            for part in content
        ]
        inputs: dict[str, Any] = self.processor.apply_chat_template(
            [{"role": "user", "content": parts}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
        )
        return inputs

    def _forward(self, inputs: dict[str, Any], option: str) -> tuple[list[int], Any]:
        """Tokens of prompt and option, and log-probabilities (tokens x vocabulary) after each."""
        import torch

        ids = inputs["input_ids"]
        if option:
            new = self.processor.tokenizer(option, add_special_tokens=False, return_tensors="pt")
            ids = torch.cat([ids, new["input_ids"]], dim=1)
        full_inputs = inputs | {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        with torch.inference_mode():
            logits = self.model(**full_inputs).logits[0].float()
        return ids[0].tolist(), torch.log_softmax(logits, dim=-1)
