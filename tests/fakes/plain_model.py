"""A checkpoint as transformers loads it: one sequence at a time, without padding or a cache."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image as PILImage


class PlainModel:
    """Log-probabilities by plain forward passes."""

    def __init__(self, place: str | Path) -> None:
        from transformers import AutoModelForImageTextToText, AutoProcessor

        self.model = AutoModelForImageTextToText.from_pretrained(place, dtype="float32").eval()
        self.processor = AutoProcessor.from_pretrained(place)

    def logprob(self, content: Sequence[str | PILImage.Image], option: str) -> float:
        """Log-probability of an option behind one turn of texts and images."""
        inputs = self._prompt(content)
        n = inputs["input_ids"].shape[1]
        ids, rows = self._forward(inputs, option)
        return sum(float(rows[index - 1, ids[index]]) for index in range(n, len(ids)))

    def likeliest(self, content: Sequence[str | PILImage.Image], n: int) -> list[dict[str, Any]]:
        """The n likeliest tokens after a prompt."""
        _, rows = self._forward(self._prompt(content), "")
        return [self._token(rows[-1], token) for token in rows[-1].topk(n).indices.tolist()]

    def _token(self, row: Any, token: int) -> dict[str, Any]:
        text = self.processor.tokenizer.decode([token])
        return {"id": token, "text": text, "logprob": float(row[token])}

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
        """Tokens of prompt and option, and log-probabilities (tokens x vocabulary) behind each."""
        import torch

        ids = inputs["input_ids"]
        if option:
            new = self.processor.tokenizer(option, add_special_tokens=False, return_tensors="pt")
            ids = torch.cat([ids, new["input_ids"]], dim=1)
        full_inputs = inputs | {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        with torch.inference_mode():
            logits = self.model(**full_inputs).logits[0].float()
        return ids[0].tolist(), torch.log_softmax(logits, dim=-1)
