"""Natural language inference by a local sequence classifier."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.hub_access import first_line, hub_access
from bench_resources.checkpoints.identity import hub_commit
from bench_resources.checkpoints.torchvision_operators import enable_torchvision
from bench_resources.models.transformers.loading import refuse_incomplete

_BATCH = 32
_ENTAILMENT = "entailment"


def open_entailment(location: str) -> Callable[[Sequence[tuple[str, str]]], list[float]]:
    """Load a sequence classifier with a label "entailment".

    The returned function gives the probability that the first sentence of each pair entails the
    second.

    Raises:
        ModelError: If it does not load, or has no such label.
    """
    enable_torchvision()
    import torch

    tokenizer, model = _load_classifier(location)
    labels = {label.lower(): number for number, label in model.config.id2label.items()}
    if _ENTAILMENT not in labels:
        raise ModelError(f"{location}: labels {sorted(labels)}, expected one named {_ENTAILMENT}")

    def entailment(pairs: Sequence[tuple[str, str]]) -> list[float]:
        scores: list[float] = []
        for start in range(0, len(pairs), _BATCH):
            premises, hypotheses = zip(*pairs[start : start + _BATCH], strict=True)
            batch = tokenizer(
                list(premises), list(hypotheses), padding=True, truncation=True, return_tensors="pt"
            )
            with torch.inference_mode():
                shares = model(**batch).logits.softmax(dim=-1)[:, labels[_ENTAILMENT]]
            scores += shares.tolist()
        return scores

    return entailment


@hub_access()
def _load_classifier(location: str) -> tuple[Any, Any]:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    at = {} if Path(location).is_dir() else {"revision": hub_commit(location)}
    try:
        tokenizer = AutoTokenizer.from_pretrained(location, **at)
        model, loading = AutoModelForSequenceClassification.from_pretrained(
            location, ignore_mismatched_sizes=True, output_loading_info=True, **at
        )
    except (OSError, ValueError) as error:
        raise ModelError(
            f"{location}: does not load as a classifier: {first_line(error)}"
        ) from error
    refuse_incomplete(location, loading)
    return tokenizer, model.eval()
