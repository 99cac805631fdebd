"""Idefics and SmolVLM: images cut into rows and columns, each part with its place in words."""

from pathlib import Path
from typing import Any

from tests.families.parts import (
    SIDE,
    WIDTH,
    ids,
    language,
    save_model,
    save_processor,
    tokenizer,
    tower,
)

_END = "<end_of_utterance>"
_PLACES = [f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)]
_SPECIAL = ("<fake_token_around_image>", "<image>", _END)


def idefics2(folder: Path) -> None:
    """HuggingFaceM4/idefics2-8b: a resampler makes every image four tokens (the release: 64)."""
    from transformers import Idefics2Config, Idefics2ForConditionalGeneration

    special = ("<unk>", "<s>", "</s>", *_SPECIAL)
    words = tokenizer(special, bos="<s>", eos="</s>", pad="<unk>", writes_bos=True)
    config = Idefics2Config(
        vision_config=tower(),
        text_config=language(words, model_type="mistral", head_dim=16),
        perceiver_config={
            "hidden_size": WIDTH,
            "num_key_value_heads": 2,
            "resampler_depth": 1,
            "resampler_head_dim": 16,
            "resampler_n_heads": 2,
            "resampler_n_latents": 4,
        },
        **ids(words, image_token_id="<image>"),
    )
    save_model(folder, Idefics2ForConditionalGeneration, config, words, also_ends=[_END])
    image = {
        "image_processor_type": "Idefics2ImageProcessor",
        "size": {"shortest_edge": SIDE // 2, "longest_edge": SIDE},
        "do_image_splitting": False,
    }
    save_processor(
        folder, "Idefics2Processor", words, image, "idefics2", processor_config={"image_seq_len": 4}
    )


def idefics3(folder: Path) -> None:
    """HuggingFaceM4/Idefics3-8B-Llama3: the tokenizer writes a second <|begin_of_text|>."""
    from transformers import Idefics3Config, Idefics3ForConditionalGeneration

    begin = "<|begin_of_text|>"
    special = (begin, "<|end_of_text|>", *_SPECIAL, "<global-img>", *_PLACES)
    words = tokenizer(
        special, bos=begin, eos="<|end_of_text|>", pad="<|end_of_text|>", writes_bos=True
    )
    config = Idefics3Config(**_halves(words))
    save_model(folder, Idefics3ForConditionalGeneration, config, words, also_ends=[_END])
    save_processor(
        folder,
        "Idefics3Processor",
        words,
        _split("Idefics3ImageProcessor"),
        "idefics3",
        processor_config={"image_seq_len": 4},
    )


def smolvlm(folder: Path) -> None:
    """HuggingFaceTB/SmolVLM2-500M-Video-Instruct: its prompts for films want num2words besides."""
    from transformers import SmolVLMConfig, SmolVLMForConditionalGeneration

    begin = "<|im_start|>"
    names = {
        "image_token": "<image>",
        "fake_image_token": "<fake_token_around_image>",
        "global_image_token": "<global-img>",
        "end_of_utterance_token": _END,
    }
    special = ("<|endoftext|>", begin, *_SPECIAL, "<global-img>", *_PLACES)
    words = tokenizer(special, bos=begin, eos=_END, pad=begin, names=names)
    config = SmolVLMConfig(**_halves(words))
    save_model(folder, SmolVLMForConditionalGeneration, config, words)
    image = _split("SmolVLMImageProcessor")
    save_processor(
        folder,
        "SmolVLMProcessor",
        words,
        image,
        "smolvlm",
        video_preprocessor_config=image | {"video_processor_type": "SmolVLMVideoProcessor"},
        processor_config={"image_seq_len": 4},
    )


def _halves(words: Any) -> dict[str, Any]:
    return {
        "vision_config": tower(),
        "text_config": language(words, model_type="llama"),
        "scale_factor": 2,
        **ids(words, image_token_id="<image>"),
    }


def _split(kind: str) -> dict[str, Any]:
    return {
        "image_processor_type": kind,
        "size": {"longest_edge": 4 * SIDE},
        "max_image_size": {"longest_edge": SIDE},
        "do_image_splitting": True,
    }
