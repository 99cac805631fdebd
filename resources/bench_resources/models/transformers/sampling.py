"""Sampling per conversation, and ``decoding = "card"`` from ``generation_config.json``.

Otherwise only the end tokens of that file are used: a repetition penalty of 1.05, which Qwen2.5-VL
publishes, changes most greedy responses.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_assets.core.schema.chat import Decoding
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.hub_access import first_line, hub_access
from bench_resources.checkpoints.identity import Checkpoint
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.workers.local_model import Draw

if TYPE_CHECKING:
    from torch import Generator, Tensor


def sampling_processors(draw: Draw, prompt_tokens: Sequence[int]) -> list[Any]:
    """Logits processors of a batch; ``prompt_tokens`` are lengths without padding."""
    from transformers import NoRepeatNGramLogitsProcessor

    rest = draw.rest
    chosen: list[Any] = []
    if penalty := rest.get("repetition_penalty"):
        chosen.append(RepetitionPenalty(penalty, prompt_tokens))
    if size := rest.get("no_repeat_ngram_size"):
        chosen.append(NoRepeatNGramLogitsProcessor(size))
    if draw.temperature:
        chosen.append(RowSampler(draw))
    return chosen


class RepetitionPenalty:
    """Repetition penalty (Keskar et al. 2019, section 4.1) that ignores padding."""

    def __init__(self, penalty: float, prompt_tokens: Sequence[int]) -> None:
        self._penalty = penalty
        self._prompt_tokens = prompt_tokens
        self._starts: Tensor | None = None

    def __call__(self, input_ids: "Tensor", scores: "Tensor") -> "Tensor":
        """Lower the scores (batch x vocabulary) of tokens in ``input_ids`` (batch x length)."""
        import torch

        n_rows, length = input_ids.shape
        if self._starts is None:
            padding = [length - n for n in self._prompt_tokens]
            beams = n_rows // len(padding)
            self._starts = torch.tensor(padding, device=scores.device).repeat_interleave(beams)
        mask = torch.arange(length, device=scores.device) >= self._starts[:, None]
        ids = torch.where(mask, input_ids, input_ids[:, -1:])  # the last one is never padding
        present = torch.zeros_like(scores, dtype=torch.bool).scatter_(1, ids, value=True)
        lowered = torch.where(scores < 0, scores * self._penalty, scores / self._penalty)
        return torch.where(present, lowered, scores)


class RowSampler:
    """Samples each conversation with its own generator, by the Gumbel-max trick."""

    def __init__(self, draw: Draw) -> None:
        from transformers import (
            MinPLogitsWarper,
            TemperatureLogitsWarper,
            TopKLogitsWarper,
            TopPLogitsWarper,
            TypicalLogitsWarper,
        )

        rest = draw.rest
        self._steps: list[Any] = [TemperatureLogitsWarper(draw.temperature)]
        self._steps += [TopKLogitsWarper(k)] if (k := rest.get("top_k")) else []
        self._steps += [TopPLogitsWarper(draw.top_p)]
        self._steps += [MinPLogitsWarper(p)] if (p := rest.get("min_p")) else []
        self._steps += [TypicalLogitsWarper(p)] if (p := rest.get("typical_p")) else []
        self._seeds = draw.seed_numbers
        self._generators: list[Generator] = []

    def __call__(self, input_ids: "Tensor", scores: "Tensor") -> "Tensor":
        """Change scores (batch x vocabulary) so that the maximum of a row is the sample."""
        import torch

        if not self._generators:
            self._generators = [
                torch.Generator(scores.device).manual_seed(seed) for seed in self._seeds
            ]
        adjusted = scores.float()
        for step in self._steps:
            adjusted = step(input_ids, adjusted)
        noise = torch.empty_like(adjusted)
        for row, generator in zip(noise, self._generators, strict=True):
            row.exponential_(generator=generator)
        sampled: Tensor = (
            adjusted - noise.log()
        )  # minus the logarithm of an exponential is Gumbel noise
        return sampled


_FILE = "generation_config.json"
_NEUTRAL: Mapping[str, object] = {
    "top_k": 0,
    "min_p": 0.0,
    "typical_p": 1.0,
    "repetition_penalty": 1.0,
    "no_repeat_ngram_size": 0,
    "num_beams": 1,
    "length_penalty": 1.0,
    "early_stopping": False,
}
"""Supported fields besides temperature and top_p, with their neutral values."""
_SAMPLING = {"top_k", "min_p", "typical_p"}
_DEFAULT_TOP_K = 50  # the default top_k of transformers
_REFUSED: Mapping[str, object] = {
    "penalty_alpha": 0.0,
    "num_beam_groups": 1,
    "diversity_penalty": 0.0,
    "epsilon_cutoff": 0.0,
    "eta_cutoff": 0.0,
    "top_h": None,
    "guidance_scale": 1.0,
    "encoder_repetition_penalty": 1.0,
    "encoder_no_repeat_ngram_size": 0,
    "bad_words_ids": None,
    "force_words_ids": None,
    "constraints": None,
    "sequence_bias": None,
    "exponential_decay_length_penalty": None,
    "dola_layers": None,
    "prompt_lookup_num_tokens": None,
    "suppress_tokens": None,
    "begin_suppress_tokens": None,
    "min_length": 0,
    "min_new_tokens": 0,
    "watermarking_config": None,
    "stop_strings": None,
    "max_time": None,
}
"""Unsupported fields that would change responses, with their neutral values.

Another value is an error: better no number than one of another decoding.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The decoding that a model card recommends."""

    temperature: float = 0.0  # 0: greedy, or beams
    top_p: float = 1.0
    rest: Mapping[str, Any] = field(default_factory=dict)  # as transformers names it

    def decoding(self, max_tokens: int, seed: int | None) -> Decoding:
        """The recommendation as part of a response's identity."""
        return Decoding(
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=max_tokens,
            seed=seed,
            card=True,
            extra=",".join(f"{name}={value}" for name, value in sorted(self.rest.items())),
        )


def read_card(checkpoint: Checkpoint) -> Card:
    """Read the recommendation of a checkpoint; greedy without a file.

    Raises:
        ModelError: If the file cannot be read, or recommends an unsupported decoding.
    """
    try:
        return _card(read_generation_config(checkpoint), checkpoint.location)
    except (ValueError, TypeError) as error:
        raise ModelError(f"{checkpoint.location}, {_FILE}: {first_line(error)}") from error


def read_generation_config(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read ``generation_config.json``; empty without a file.

    Raises:
        ModelError: If it cannot be read.
    """
    file = _file(checkpoint)
    try:
        written = json.loads(file.read_text(encoding="utf-8")) if file else {}
    except (OSError, RecursionError, ValueError) as error:
        raise ModelError(f"{checkpoint.location}, {_FILE}: {first_line(error)}") from error
    if not isinstance(written, dict):
        raise ModelError(f"{checkpoint.location}, {_FILE}: not an object")
    return written


def card_of(spec: TransformersSpec, checkpoint: Checkpoint) -> Card | None:
    """Read the recommendation if the section asks for it."""
    return read_card(checkpoint) if spec.named_decoding == "card" else None


def apply_card(
    spec: TransformersSpec, card: Card | None
) -> tuple[TransformersSpec, Mapping[str, Any]]:
    """Apply a card's temperature and top_p to a section; returns the other fields."""
    if card is None:
        return spec, {}
    sampling = {"temperature": card.temperature, "top_p": card.top_p}
    return spec.model_copy(update=sampling), card.rest


def _card(written: dict[str, Any], location: str) -> Card:
    for name, neutral in _REFUSED.items():
        if written.get(name) not in (None, neutral):
            raise ModelError(
                f"{location}, {_FILE}: {name} = {written[name]} is not supported by "
                'decoding = "card". Set temperature and top_p instead'
            )
    samples = bool(written.get("do_sample"))
    rest = {
        name: written[name]
        for name, neutral in _NEUTRAL.items()
        if written.get(name) not in (None, neutral) and (samples or name not in _SAMPLING)
    }
    if samples and written.get("top_k") is None:
        rest["top_k"] = _DEFAULT_TOP_K
    if samples and rest.get("num_beams"):
        raise ModelError(f"{location}, {_FILE}: sampling with beams is not supported")
    if not samples:
        return Card(rest=rest)
    temperature, top_p = (
        1.0 if (value := written.get(name)) is None else float(value)
        for name in ("temperature", "top_p")
    )
    if not temperature > 0:
        raise ValueError(f"do_sample with temperature = {temperature:g}. Remove do_sample")
    return Card(temperature=temperature, top_p=top_p, rest=rest)


def _file(checkpoint: Checkpoint) -> Path | None:
    if Path(checkpoint.location).is_dir():
        file = Path(checkpoint.location, _FILE)
        return file if file.exists() else None
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    try:
        with hub_access():
            return Path(hf_hub_download(checkpoint.location, _FILE, revision=checkpoint.revision))
    except EntryNotFoundError as error:
        if isinstance(error.__cause__, OSError):  # the hub answered with an error
            raise ModelError(
                f"{checkpoint.location}: {_FILE}: {first_line(error.__cause__)}"
            ) from error
        return None
