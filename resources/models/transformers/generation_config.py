"""What a checkpoint's own ``generation_config.json`` recommends, for ``decoding = "card"``.

Without that name nothing of the file is used but its end tokens: a repetition penalty of 1.05,
which Qwen2.5-VL publishes, changes most greedy responses.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_assets.core.schema.chat import Decoding
from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.identity import Checkpoint, first_line
from resources.config.sections.local_models import AnyLocalSpec, LocalSpec

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
"""What is followed beside temperature and top_p, with the value that changes nothing."""
_SAMPLING = {"top_k", "min_p", "typical_p"}
_OF_TRANSFORMERS = 50  # its top_k where a file that samples names none
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
"""What would change responses and is not followed.

Better no number than one of another decoding.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A recommended decoding."""

    temperature: float = 0.0  # 0: greedy, or beams
    top_p: float = 1.0
    rest: Mapping[str, Any] = field(default_factory=dict)  # as transformers names it

    def decoding(self, max_tokens: int, seed: int | None) -> Decoding:
        """Write it as part of a response's identity."""
        return Decoding(
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=max_tokens,
            seed=seed,
            card=True,
            extra=",".join(f"{name}={value}" for name, value in sorted(self.rest.items())),
        )


def read_card(checkpoint: Checkpoint) -> Card:
    """Read the recommendation of a checkpoint; without a file, greedy decoding.

    Raises:
        ModelError: If the file cannot be read, or recommends what is not followed here.
    """
    try:
        return _card(written_card(checkpoint), checkpoint.location)
    except (ValueError, TypeError) as why:
        raise ModelError(f"{checkpoint.location}, {_FILE}: {first_line(why)}") from why


def written_card(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the file of a checkpoint as it is; empty where it has none.

    Raises:
        ModelError: If it cannot be read.
    """
    file = _file(checkpoint)
    try:
        written = json.loads(file.read_text(encoding="utf-8")) if file else {}
    except (OSError, RecursionError, ValueError) as why:
        raise ModelError(f"{checkpoint.location}, {_FILE}: {first_line(why)}") from why
    if not isinstance(written, dict):
        raise ModelError(f"{checkpoint.location}, {_FILE}: not an object")
    return written


def card_of(spec: LocalSpec, checkpoint: Checkpoint) -> Card | None:
    """Read the recommendation, where responses are to be drawn by it; see ``read_card``."""
    return read_card(checkpoint) if spec.named_decoding == "card" else None


def as_recommended(spec: AnyLocalSpec, card: Card | None) -> tuple[AnyLocalSpec, Mapping[str, Any]]:
    """Put a card's temperature and top_p into a spec; the rest is for ``Draw``."""
    if card is None:
        return spec, {}
    drawn = {"temperature": card.temperature, "top_p": card.top_p}
    return spec.model_copy(update=drawn), card.rest


def _card(written: dict[str, Any], location: str) -> Card:
    for name, neutral in _REFUSED.items():
        if written.get(name) not in (None, neutral):
            raise ModelError(
                f"{location}, {_FILE}: {name} = {written[name]} is not followed by "
                'decoding = "card"; leave it out, or name temperature and top_p yourself'
            )
    samples = bool(written.get("do_sample"))
    rest = {
        name: written[name]
        for name, neutral in _NEUTRAL.items()
        if written.get(name) not in (None, neutral) and (samples or name not in _SAMPLING)
    }
    if samples and written.get("top_k") is None:
        rest["top_k"] = _OF_TRANSFORMERS
    if samples and rest.get("num_beams"):
        raise ModelError(f"{location}, {_FILE}: sampling with beams is not followed")
    if not samples:
        return Card(rest=rest)
    temperature, top_p = (
        1.0 if (value := written.get(name)) is None else float(value)
        for name in ("temperature", "top_p")
    )
    if not temperature > 0:
        raise ValueError(f"do_sample with temperature = {temperature:g}; leave do_sample out")
    return Card(temperature=temperature, top_p=top_p, rest=rest)


def _file(checkpoint: Checkpoint) -> Path | None:
    if Path(checkpoint.location).is_dir():
        file = Path(checkpoint.location, _FILE)
        return file if file.exists() else None
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    try:
        return Path(hf_hub_download(checkpoint.location, _FILE, revision=checkpoint.revision))
    except EntryNotFoundError:
        return None
