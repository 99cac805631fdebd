"""Encoders of texts and images, for retrieval; and those that only look like it."""

from pathlib import Path
from typing import Any

from tests.families.parts import (
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


def clip(folder: Path) -> None:
    """openai/clip-vit-base-patch32: a text ends where its end token is."""
    from transformers import CLIPConfig, CLIPModel

    begin, end = "<|startoftext|>", "<|endoftext|>"
    words = tokenizer([begin, end], bos=begin, eos=end, pad=end, writes_bos=True, writes_eos=True)
    config = CLIPConfig(
        text_config=language(words, max_position_embeddings=77),
        vision_config=tower(),
        projection_dim=24,
    )
    save_model(folder, CLIPModel, config, words)
    image = {
        "image_processor_type": "CLIPImageProcessor",
        "size": {"shortest_edge": SIDE},
        "crop_size": {"height": SIDE, "width": SIDE},
    }
    save_processor(folder, "CLIPProcessor", words, image)


def siglip(folder: Path) -> None:
    """google/siglip-base-patch16-224: texts filled up to 64 tokens, as they were in training."""
    from transformers import SiglipConfig, SiglipModel

    words = tokenizer(["<unk>", "</s>"], eos="</s>", pad="</s>", writes_eos=True)
    config = SiglipConfig(
        text_config=language(words, max_position_embeddings=64), vision_config=tower()
    )
    save_model(folder, SiglipModel, config, words)
    save_processor(folder, "SiglipProcessor", words, square("SiglipImageProcessor"))


def siglip2(folder: Path) -> None:
    """google/siglip2-base-patch16-naflex: images keep their shape."""
    from transformers import Siglip2Config, Siglip2Model

    special = ("<pad>", "<eos>", "<bos>", "<unk>")
    words = tokenizer(special, bos="<bos>", eos="<eos>", pad="<pad>", writes_eos=True)
    seeing = tower(num_patches=16)
    del seeing["image_size"]
    config = Siglip2Config(
        text_config=language(words, max_position_embeddings=64), vision_config=seeing
    )
    save_model(folder, Siglip2Model, config, words)
    image = {
        "image_processor_type": "Siglip2ImageProcessor",
        "patch_size": 14,
        "max_num_patches": 16,
    }
    save_processor(folder, "Siglip2Processor", words, image)


def blip_itm(folder: Path) -> None:
    """Salesforce/blip-itm-base-coco: transformers' AutoModel finds 30 of its 91 tensors."""
    from transformers import BlipConfig, BlipForImageTextRetrieval

    words = _bert_words()
    config = BlipConfig(
        text_config=language(words, max_position_embeddings=64, encoder_hidden_size=WIDTH),
        vision_config=tower(),
        projection_dim=24,
        image_text_hidden_size=24,
    )
    save_model(folder, BlipForImageTextRetrieval, config, words)
    save_processor(folder, "BlipProcessor", words, square("BlipImageProcessor"))


def blip_2_itm(folder: Path) -> None:
    """Salesforce/blip2-itm-vit-g: queries compare image and text."""
    from transformers import Blip2Config, Blip2ForImageTextRetrieval

    words = _bert_words("<image>")
    query_language = language(words, encoder_hidden_size=WIDTH, use_qformer_text_input=True)
    config = Blip2Config(
        vision_config=tower(),
        qformer_config=query_language,
        num_query_tokens=4,
        image_text_hidden_size=16,
        **ids(words, image_token_index="<image>"),
    )
    save_model(folder, Blip2ForImageTextRetrieval, config, words)
    own = {"num_query_tokens": 4}
    image = square("BlipImageProcessor")
    save_processor(folder, "Blip2Processor", words, image, processor_config=own)


def colpali(folder: Path) -> None:
    """vidore/colpali-v1.3-hf: many vectors a text and an image, compared pair by pair."""
    from transformers import ColPaliConfig, ColPaliForRetrieval

    special = ("<pad>", "<eos>", "<bos>", "<unk>", "<image>")
    names = {"image_token": "<image>"}
    words = tokenizer(special, bos="<bos>", eos="<eos>", pad="<pad>", names=names)
    seeing = tower(model_type="siglip_vision_model", vision_use_head=False, projection_dim=WIDTH)
    paligemma = {
        "model_type": "paligemma",
        "vision_config": seeing,
        "text_config": language(words, model_type="gemma", head_dim=16),
        "projection_dim": WIDTH,
        **ids(words, image_token_index="<image>"),
    }
    config = ColPaliConfig(vlm_config=paligemma, embedding_dim=16)
    save_model(folder, ColPaliForRetrieval, config, words)
    image = square("SiglipImageProcessor", image_seq_length=16)
    save_processor(folder, "ColPaliProcessor", words, image)


def _bert_words(*more: str) -> Any:
    special = ("[PAD]", "[CLS]", "[SEP]", *more)
    return tokenizer(
        special, bos="[CLS]", eos="[SEP]", pad="[PAD]", writes_bos=True, writes_eos=True
    )
