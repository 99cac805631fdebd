"""Gemma 3 and PaliGemma: SigLIP squares before a Gemma."""

from pathlib import Path
from typing import Any

from tests.families.parts import (
    WIDTH,
    ids,
    language,
    save_model,
    save_processor,
    square,
    tokenizer,
    tower,
)

_BASE = ("<pad>", "<eos>", "<bos>", "<unk>")


def gemma3(folder: Path) -> None:
    """google/gemma-3-4b-it: template and tokenizer each write <bos>; turns alternate."""
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration

    names = {
        "boi_token": "<start_of_image>",
        "eoi_token": "<end_of_image>",
        "image_token": "<image_soft_token>",
    }
    words = _words("<start_of_turn>", "<end_of_turn>", names=names)
    config = Gemma3Config(
        text_config=language(
            words,
            head_dim=16,
            sliding_window=512,
            layer_types=["sliding_attention", "full_attention"],
        ),
        vision_config=tower(model_type="siglip_vision_model", vision_use_head=False),
        mm_tokens_per_image=4,
        **ids(
            words,
            boi_token_index="<start_of_image>",
            eoi_token_index="<end_of_image>",
            image_token_index="<image_soft_token>",
        ),
    )
    card = {"cache_implementation": "hybrid", "do_sample": True, "top_k": 64, "top_p": 0.95}
    save_model(
        folder, Gemma3ForConditionalGeneration, config, words, card, also_ends=["<end_of_turn>"]
    )
    save_processor(
        folder,
        "Gemma3Processor",
        words,
        square("Gemma3ImageProcessor", image_seq_length=4),
        "gemma3",
        processor_config={"image_seq_length": 4},
    )


def paligemma(folder: Path) -> None:
    """google/paligemma-3b-mix-224: no chat template; images before the text."""
    from transformers import PaliGemmaConfig, PaliGemmaForConditionalGeneration

    places = [f"<loc{number:04}>" for number in range(1024)]
    parts = [f"<seg{number:03}>" for number in range(128)]
    words = _words(*places, *parts, names={"image_token": "<image>"})
    config = PaliGemmaConfig(
        vision_config=tower(
            model_type="siglip_vision_model", vision_use_head=False, projection_dim=WIDTH
        ),
        text_config=language(words, model_type="gemma", head_dim=16),
        projection_dim=WIDTH,
        **ids(words, image_token_index="<image>"),
    )
    save_model(folder, PaliGemmaForConditionalGeneration, config, words)
    image = square("SiglipImageProcessor", image_seq_length=16)
    save_processor(folder, "PaliGemmaProcessor", words, image)


def _words(*more: str, names: dict[str, str]) -> Any:
    special = [*_BASE, *more, *names.values()]
    return tokenizer(special, bos="<bos>", eos="<eos>", pad="<pad>", writes_bos=True, names=names)
