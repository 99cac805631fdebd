"""Families that cut an image into equal tiles beside a small copy of the whole."""

from pathlib import Path

from tests.families.parts import (
    PATCH,
    SIDE,
    WIDTH,
    ids,
    language,
    save_model,
    save_processor,
    square,
    tokenizer,
    tower,
)

_CHAT = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
_COHERE = (
    *("<PAD>", "<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>", "<|START_OF_TURN_TOKEN|>"),
    *("<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>", "<|SYSTEM_TOKEN|>"),
    *("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_OF_IMG|>", "<|END_OF_IMG|>"),
    *("<|IMG_PATCH|>", "<|IMG_LINE_BREAK|>"),
)


def internvl3(folder: Path) -> None:
    """OpenGVLab/InternVL3-1B-hf: up to twelve tiles; films as well."""
    from transformers import InternVLConfig, InternVLForConditionalGeneration

    names = {
        "start_image_token": "<img>",
        "end_image_token": "</img>",
        "context_image_token": "<IMG_CONTEXT>",
        "video_token": "<video>",
    }
    words = tokenizer([*_CHAT, *names.values()], eos="<|im_end|>", pad="<|endoftext|>", names=names)
    config = InternVLConfig(
        vision_config=tower(image_size=[SIDE, SIDE], patch_size=[PATCH, PATCH]),
        text_config=language(words, model_type="qwen2"),
        image_seq_length=4,
        **ids(words, image_token_id="<IMG_CONTEXT>"),
    )
    save_model(folder, InternVLForConditionalGeneration, config, words)
    tiles = {"crop_to_patches": True, "min_patches": 1, "max_patches": 12}
    save_processor(
        folder,
        "InternVLProcessor",
        words,
        square("GotOcr2ImageProcessor", **tiles),
        "internvl",
        video_preprocessor_config={
            "video_processor_type": "InternVLVideoProcessor",
            "size": {"height": SIDE, "width": SIDE},
        },
        processor_config={"image_seq_length": 4},
    )


def ovis2(folder: Path) -> None:
    """thisisiron/Ovis2-1B-hf: an image is a table of embeddings, weighted."""
    from transformers import Ovis2Config, Ovis2ForConditionalGeneration

    marks = ("<IMG_START>", "<IMG_GRID>", "<IMG_COL>", "<IMG_ROW>", "<IMG_END>")
    words = tokenizer(
        [*_CHAT, "<image>", "<IMG_ATOM>", *marks],
        eos="<|im_end|>",
        pad="<|endoftext|>",
        names={"image_token": "<IMG_ATOM>"},
    )
    config = Ovis2Config(
        vision_config=tower(vocab_size=64, hidden_stride=2),
        text_config=language(words, model_type="qwen2"),
        visual_indicator_token_ids=[words.convert_tokens_to_ids(mark) for mark in marks],
        vocab_size=len(words),
        hidden_size=WIDTH,
        **ids(words, image_token_id="<IMG_ATOM>"),
    )
    save_model(folder, Ovis2ForConditionalGeneration, config, words)
    image = square("Ovis2ImageProcessor", crop_to_patches=True, max_patches=9)
    save_processor(
        folder, "Ovis2Processor", words, image, "ovis2", processor_config={"image_seq_length": 4}
    )


def aya_vision(folder: Path) -> None:
    """CohereLabs/aya-vision-8b: tiles with numbers as control tokens."""
    from transformers import AyaVisionConfig, AyaVisionForConditionalGeneration

    tiles = (*(f"TILE_{number}" for number in range(1, 13)), "TILE_GLOBAL")
    words = tokenizer(
        [*_COHERE, "<image>", *tiles],
        bos="<BOS_TOKEN>",
        eos="<|END_OF_TURN_TOKEN|>",
        pad="<PAD>",
        writes_bos=True,
    )
    config = AyaVisionConfig(
        vision_config=tower(model_type="siglip_vision_model", vision_use_head=False),
        text_config=language(words, model_type="cohere2", sliding_window=512),
        downsample_factor=2,
        **ids(words, image_token_index="<|IMG_PATCH|>"),
    )
    save_model(folder, AyaVisionForConditionalGeneration, config, words)
    save_processor(
        folder,
        "AyaVisionProcessor",
        words,
        square("GotOcr2ImageProcessor", crop_to_patches=True, max_patches=12),
        "aya_vision",
        processor_config={"patch_size": 2 * PATCH, "img_size": SIDE},
    )


def cohere2_vision(folder: Path) -> None:
    """CohereLabs/command-a-vision-07-2025: its image processor exists for torchvision only."""
    from transformers import Cohere2VisionConfig, Cohere2VisionForConditionalGeneration

    words = tokenizer(
        _COHERE,
        bos="<BOS_TOKEN>",
        eos="<|END_OF_TURN_TOKEN|>",
        pad="<PAD>",
        writes_bos=True,
        names={
            "image_token": "<|IMG_PATCH|>",
            "boi_token": "<|START_OF_IMG|>",
            "eoi_token": "<|END_OF_IMG|>",
            "img_line_break_token": "<|IMG_LINE_BREAK|>",
        },
    )
    config = Cohere2VisionConfig(
        vision_config=tower(model_type="siglip_vision_model", vision_use_head=False),
        text_config=language(words, model_type="cohere2", sliding_window=512),
        downsample_factor=2,
        alignment_intermediate_size=2 * WIDTH,
        **ids(words, image_token_id="<|IMG_PATCH|>"),
    )
    save_model(folder, Cohere2VisionForConditionalGeneration, config, words)
    image = square("Cohere2VisionImageProcessor", patch_size=2, max_patches=12)  # tokens a side
    save_processor(folder, "Cohere2VisionProcessor", words, image, "cohere2_vision")
