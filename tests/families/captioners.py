"""Families without a chat template: BLIP-2, InstructBLIP, Florence-2."""

from pathlib import Path
from typing import Any

from tests.families.parts import (
    CONTEXT,
    WIDTH,
    ids,
    language,
    save_model,
    save_processor,
    square,
    tokenizer,
    tower,
)

_QUERIES = 4  # tokens of an image


def blip_2(folder: Path) -> None:
    """Salesforce/blip2-opt-2.7b: queries read the image for an OPT."""
    from transformers import Blip2Config, Blip2ForConditionalGeneration

    special = ("<pad>", "<s>", "</s>", "<image>")
    words = tokenizer(special, bos="<s>", eos="</s>", pad="<pad>", writes_bos=True)
    opt = language(words, model_type="opt", ffn_dim=2 * WIDTH, word_embed_proj_dim=WIDTH)
    config = Blip2Config(
        vision_config=tower(),
        qformer_config=_queries(words),
        text_config=opt,
        num_query_tokens=_QUERIES,
        **ids(words, image_token_index="<image>"),
    )
    save_model(folder, Blip2ForConditionalGeneration, config, words)
    own = {"num_query_tokens": _QUERIES}
    save_processor(
        folder, "Blip2Processor", words, square("BlipImageProcessor"), processor_config=own
    )


def instruct_blip(folder: Path) -> None:
    """Salesforce/instructblip-vicuna-7b: the queries read the question too, in their own words."""
    from transformers import InstructBlipConfig, InstructBlipForConditionalGeneration

    special = ("<unk>", "<s>", "</s>", "<pad>", "<image>")
    words = tokenizer(special, bos="<s>", eos="</s>", pad="<pad>", writes_bos=True)
    query_tokenizer = tokenizer(["[PAD]", "[CLS]", "[SEP]"], bos="[CLS]", eos="[SEP]", pad="[PAD]")
    config = InstructBlipConfig(
        vision_config=tower(),
        qformer_config=_queries(query_tokenizer),
        text_config=language(words, model_type="llama"),
        num_query_tokens=_QUERIES,
        **ids(words, image_token_index="<image>"),
    )
    save_model(folder, InstructBlipForConditionalGeneration, config, words)
    own = {"num_query_tokens": _QUERIES}
    save_processor(
        folder, "InstructBlipProcessor", words, square("BlipImageProcessor"), processor_config=own
    )
    query_tokenizer.save_pretrained(folder / "qformer_tokenizer")


def florence2(folder: Path) -> None:
    """florence-community/Florence-2-base: an encoder reads, a decoder answers."""
    from transformers import Florence2Config, Florence2ForConditionalGeneration

    special = ("<s>", "<pad>", "</s>", "<unk>", "<mask>", "<image>")
    names = {"image_token": "<image>"}
    words = tokenizer(special, bos="<s>", eos="</s>", pad="<pad>", writes_bos=True, names=names)
    bart = {
        "model_type": "bart",
        "vocab_size": len(words),
        "d_model": WIDTH,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 2 * WIDTH,
        "decoder_ffn_dim": 2 * WIDTH,
        "max_position_embeddings": CONTEXT // 4,
        "decoder_start_token_id": words.eos_token_id,
        "forced_eos_token_id": words.eos_token_id,
        **ids(words, bos_token_id="<s>", pad_token_id="<pad>", eos_token_id="</s>"),
    }
    davit = {
        "depths": [1, 1, 1, 1],
        "embed_dim": [16, 16, 32, 32],
        "num_heads": [2, 2, 2, 2],
        "num_groups": [2, 2, 2, 2],
        "window_size": 4,
        "projection_dim": WIDTH,
        "drop_path_rate": 0.0,
    }
    config = Florence2Config(
        text_config=bart, vision_config=davit, **ids(words, image_token_id="<image>")
    )
    card = {
        "num_beams": 3,
        "no_repeat_ngram_size": 3,
        "decoder_start_token_id": words.eos_token_id,
        "forced_bos_token_id": words.bos_token_id,
        "forced_eos_token_id": words.eos_token_id,
    }
    save_model(folder, Florence2ForConditionalGeneration, config, words, card, seed=1)
    image = square("CLIPImageProcessor", 128, do_center_crop=False, image_seq_length=17)
    save_processor(folder, "Florence2Processor", words, image)


def _queries(words: Any) -> dict[str, Any]:
    return language(words, encoder_hidden_size=WIDTH)
