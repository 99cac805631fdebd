"""Llama 3.2 Vision, which looks through cross-attention, and Llama 4, which reads tiles."""

from pathlib import Path

from tests.families.parts import (
    PATCH,
    WIDTH,
    ids,
    language,
    save_model,
    save_processor,
    square,
    tokenizer,
    tower,
)

_BEGIN = "<|begin_of_text|>"
_LLAMA_ROPE = {"rope_type": "default", "rope_theta": 5e5}


def mllama(folder: Path) -> None:
    """meta-llama/Llama-3.2-11B-Vision-Instruct: no system prompt beside an image."""
    from transformers import MllamaConfig, MllamaForConditionalGeneration

    special = (
        *(_BEGIN, "<|end_of_text|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>"),
        *("<|finetune_right_pad_id|>", "<|python_tag|>"),
    )
    words = tokenizer(
        special, bos=_BEGIN, eos="<|eot_id|>", pad="<|finetune_right_pad_id|>", writes_bos=True
    )
    known = len(words)
    words.add_special_tokens({"additional_special_tokens": ["<|image|>"]})  # behind the vocabulary
    config = MllamaConfig(
        vision_config=tower(
            num_global_layers=1,
            attention_heads=2,
            vision_output_dim=3 * WIDTH,
            intermediate_layers_indices=[0, 1],
            max_num_tiles=4,
        ),
        text_config=language(
            words,
            vocab_size=known,
            num_hidden_layers=3,
            cross_attention_layers=[1],
            rope_parameters=_LLAMA_ROPE,
        ),
        image_token_index=known,
    )
    card = {"do_sample": True, "temperature": 0.6, "top_p": 0.9}
    save_model(
        folder, MllamaForConditionalGeneration, config, words, card, also_ends=["<|end_of_text|>"]
    )
    image = square("MllamaImageProcessor", max_image_tiles=4)
    save_processor(folder, "MllamaProcessor", words, image, "mllama")


def llama4(folder: Path) -> None:
    """meta-llama/Llama-4-Scout-17B-16E-Instruct: experts in every second layer."""
    from transformers import Llama4Config, Llama4ForConditionalGeneration

    special = (
        *(_BEGIN, "<|eot|>", "<|header_start|>", "<|header_end|>", "<|finetune_right_pad|>"),
        *("<|image|>", "<|image_start|>", "<|image_end|>", "<|patch|>"),
        *("<|tile_x_separator|>", "<|tile_y_separator|>"),
    )
    words = tokenizer(
        special, bos=_BEGIN, eos="<|eot|>", pad="<|finetune_right_pad|>", writes_bos=True
    )
    config = Llama4Config(
        vision_config=tower(
            intermediate_size=4 * WIDTH,  # of a patch after four are shuffled into one
            vision_output_dim=WIDTH,
            projector_input_dim=WIDTH,
            projector_output_dim=WIDTH,
            pixel_shuffle_ratio=0.5,
        ),
        text_config=language(
            words,
            head_dim=16,
            intermediate_size_mlp=2 * WIDTH,
            num_local_experts=2,
            interleave_moe_layer_step=2,
            rope_parameters=_LLAMA_ROPE,
        ),
        **ids(
            words,
            boi_token_index="<|image_start|>",
            eoi_token_index="<|image_end|>",
            image_token_index="<|patch|>",
        ),
    )
    card = {"do_sample": True, "temperature": 0.6, "top_p": 0.9}
    save_model(folder, Llama4ForConditionalGeneration, config, words, card)
    save_processor(
        folder,
        "Llama4Processor",
        words,
        square("Llama4ImageProcessor", max_patches=4),
        "llama4",
        processor_config={"patch_size": PATCH, "pixel_shuffle_ratio": 0.5},
    )
