"""Kimi-K2.5, Phi-4-multimodal and LFM2-VL."""

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

_PHI_SIDE = 448  # px; its processor counts on 16 x 16 tokens a square


def kimi_k25(folder: Path) -> None:
    """moonshotai/Kimi-K2.5: its image processor exists for torchvision only."""
    from transformers import Kimi_K25Config, Kimi_K25ForConditionalGeneration

    special = (
        *("[BOS]", "[EOS]", "<|im_end|>", "<|im_user|>", "<|im_assistant|>", "<|im_system|>"),
        *("<|im_middle|>", "<|media_begin|>", "<|media_content|>", "<|media_pad|>"),
        *("<|media_end|>", "<|kimi_k25_video_placeholder|>", "[PAD]"),
    )
    names = {"image_token": "<|media_pad|>", "video_token": "<|kimi_k25_video_placeholder|>"}
    words = tokenizer(special, bos="[BOS]", eos="<|im_end|>", pad="[PAD]", names=names)
    config = Kimi_K25Config(
        text_config=language(words, model_type="llama"),
        vision_config={
            "hidden_size": WIDTH,
            "intermediate_size": 2 * WIDTH,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "patch_size": PATCH,
            "merge_kernel_size": [2, 2],
            "pos_emb_height": 8,
            "pos_emb_width": 8,
        },
        projection_hidden_size=WIDTH,
        **ids(words, image_token_id=names["image_token"], video_token_id=names["video_token"]),
    )
    save_model(folder, Kimi_K25ForConditionalGeneration, config, words)
    of_images = {"patch_size": PATCH, "merge_size": 2, "max_patches": 2048}
    save_processor(
        folder,
        "Kimi_K25Processor",
        words,
        {"image_processor_type": "Kimi_K25ImageProcessor", **of_images},
        "kimi_k25",
        video_preprocessor_config={"video_processor_type": "Kimi_K25VideoProcessor"},
    )


def phi4_multimodal(folder: Path) -> None:
    """microsoft/Phi-4-multimodal-instruct: hears as well; known to transformers as multimodal."""
    from transformers import Phi4MultimodalConfig, Phi4MultimodalForCausalLM

    end = "<|endoftext|>"
    names = {"image_token": "<|image|>", "audio_token": "<|audio|>"}
    special = (end, "<|end|>", "<|system|>", "<|user|>", "<|assistant|>", *names.values())
    words = tokenizer(special, bos=end, eos=end, pad=end, names=names)
    halves = ids(words, **names)
    config = Phi4MultimodalConfig(
        **language(words),
        vision_config=tower(
            num_hidden_layers=3,
            image_size=_PHI_SIDE,
            crop_size=_PHI_SIDE,
            feature_layer=-2,
            image_token_id=halves["image_token"],
        ),
        audio_config={
            "hidden_size": WIDTH,
            "intermediate_size": 2 * WIDTH,
            "num_blocks": 2,
            "num_attention_heads": 2,
            "ext_pw_out_channel": WIDTH,
            "depthwise_separable_out_channel": WIDTH,
            "nemo_conv_channels": WIDTH,
            "audio_token_id": halves["audio_token"],
            "input_size": 80,
        },
    )
    save_model(folder, Phi4MultimodalForCausalLM, config, words, also_ends=["<|end|>"])
    image = square("Phi4MultimodalImageProcessor", _PHI_SIDE, patch_size=PATCH, dynamic_hd=4)
    image |= {"feature_extractor_type": "Phi4MultimodalFeatureExtractor"}
    save_processor(folder, "Phi4MultimodalProcessor", words, image, "phi4_multimodal")


def lfm2_vl(folder: Path) -> None:
    """LiquidAI/LFM2-VL-1.6B: convolutions beside attention; tiles that keep their shape."""
    from transformers import Lfm2VlConfig, Lfm2VlForConditionalGeneration

    names = {
        "image_token": "<image>",
        "image_start_token": "<|image_start|>",
        "image_end_token": "<|image_end|>",
        "image_thumbnail": "<|img_thumbnail|>",
    }
    places = [f"<|img_row_{row}_col_{column}|>" for row in range(1, 11) for column in range(1, 11)]
    special = ["<|pad|>", "<|startoftext|>", "<|im_start|>", "<|im_end|>", *names.values(), *places]
    words = tokenizer(
        special,
        bos="<|startoftext|>",
        eos="<|im_end|>",
        pad="<|pad|>",
        writes_bos=True,
        names=names,
    )
    seeing = tower(model_type="siglip2_vision_model", num_patches=16, patch_size=16)
    del seeing["image_size"]
    config = Lfm2VlConfig(
        vision_config=seeing,
        text_config=language(
            words,
            model_type="lfm2",
            layer_types=["conv", "full_attention"],
            block_auto_adjust_ff_dim=False,
        ),
        projector_hidden_size=2 * WIDTH,
        tie_word_embeddings=True,
        **ids(words, image_token_id="<image>"),
    )
    save_model(folder, Lfm2VlForConditionalGeneration, config, words, seed=5)
    image = {
        "image_processor_type": "Lfm2VlImageProcessorFast",
        "downsample_factor": 2,
        "encoder_patch_size": 16,
        "tile_size": 64,
        "min_image_tokens": 4,
        "max_image_tokens": 16,
        "max_num_patches": 64,
        "min_tiles": 2,
        "max_tiles": 4,
    }
    save_processor(folder, "Lfm2VlProcessor", words, image, "lfm2_vl")
