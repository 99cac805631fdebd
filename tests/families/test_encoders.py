import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from PIL import Image

from bench_assets.core.schema.chat import Vectors
from bench_assets.core.schema.errors import ModelError
from bench_resources.encoders.dual_encoder import EncoderSpec, open_encoder
from bench_resources.images.store import ImageStore
from tests.families import releases

TEXTS = ["A dog.", "Two birds, and a cat on the left", "a cat and a dog " * 30]
SIZES = [(80, 60), (50, 800), (64, 64)]

BuildCheckpoint: TypeAlias = Callable[[Path], None]
CardCosines: TypeAlias = Callable[[Path], list[list[float]]]


def random_images() -> list[Image.Image]:
    rng = np.random.default_rng(0)
    return [
        Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))
        for width, height in SIZES
    ]


def encode(model: Path, folder: Path, batch_size: int) -> tuple[Vectors, Vectors]:
    """Vectors of TEXTS and of the random images, which are stored in a folder."""
    image_store = ImageStore(folder=str(folder / "images"))
    digests = []
    for index, image in enumerate(random_images()):
        image.save(folder / f"{index}.png")
        digests.append(image_store.put_file(folder / f"{index}.png").sha256)
    spec = EncoderSpec(path=str(model), device="cpu", batch_size=batch_size)
    with open_encoder("m", spec, str(model), image_store) as encoder:
        return encoder.encode_texts(TEXTS), encoder.encode_images(digests)


def card_cosines(**padding: Any) -> CardCosines:
    """Encode as the cards of CLIP and SigLIP do; returns cosines of each text with each image."""

    def compute_cosines(folder: Path) -> list[list[float]]:
        from transformers import AutoModel, AutoProcessor

        processor = AutoProcessor.from_pretrained(folder)
        inputs = processor(
            text=TEXTS, images=random_images(), return_tensors="pt", truncation=True, **padding
        )
        output = AutoModel.from_pretrained(folder)(**inputs)
        return (output.text_embeds @ output.image_embeds.T).tolist()  # both of length 1

    return compute_cosines


@pytest.mark.parametrize(
    "release", ["clip", pytest.param("siglip", marks=pytest.mark.long), "siglip2"]
)
def test_vectors_are_the_same_alone_and_in_a_batch(release: str, tmp_path: Path) -> None:
    releases.build(release, tmp_path / "model")

    texts, images = encode(tmp_path / "model", tmp_path, batch_size=64)
    texts_alone, images_alone = encode(tmp_path / "model", tmp_path, batch_size=1)

    assert texts == pytest.approx(texts_alone, abs=1e-5)
    assert images == pytest.approx(images_alone, abs=1e-5)
    # Three texts and three images have six different vectors.
    assert len(np.unique(np.concatenate([texts, images]).round(3), axis=0)) == 6


@pytest.mark.parametrize(
    ("release", "expected_cosines"),
    [
        pytest.param("clip", card_cosines(padding=True, max_length=77), id="CLIP"),
        pytest.param(
            "siglip",
            card_cosines(padding="max_length", max_length=64),
            id="SigLIP",
            marks=pytest.mark.long,
        ),
        pytest.param(
            "siglip2",
            # By default its processor would cut patches of the size of a real release.
            card_cosines(padding="max_length", max_length=64, patch_size=14, max_num_patches=16),
            id="SigLIP 2",
        ),
    ],
)
def test_cosines_are_those_of_the_model_card(
    release: str, expected_cosines: CardCosines, tmp_path: Path
) -> None:
    releases.build(release, tmp_path / "model")

    texts, images = encode(tmp_path / "model", tmp_path, batch_size=64)

    assert texts @ images.T == pytest.approx(
        np.array(expected_cosines(tmp_path / "model")), abs=1e-5
    )


def test_siglip_2_encodes_capital_letters_as_small_ones(tmp_path: Path) -> None:
    releases.build("siglip2", tmp_path / "model")
    image_store = ImageStore(folder=str(tmp_path / "images"))
    spec = EncoderSpec(path=str(tmp_path / "model"), device="cpu")
    with open_encoder("m", spec, str(tmp_path / "model"), image_store) as encoder:
        capitals, small_letters = encoder.encode_texts(["A DOG", "a dog"])

    assert capitals == pytest.approx(small_letters)


def build_clip_without_a_tensor(folder: Path) -> None:
    from safetensors.numpy import load_file, save_file

    releases.build("clip", folder)
    tensors = load_file(folder / "model.safetensors")
    del tensors["visual_projection.weight"]
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})


def build_clip_of_another_size(folder: Path) -> None:
    releases.build("clip", folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"projection_dim": 12}))


@pytest.mark.parametrize(
    ("build", "expected_message"),
    [
        pytest.param(
            build_clip_without_a_tensor,
            "1 tensors are missing, such as visual_projection.weight",
            id="CLIP without a tensor",
        ),
        pytest.param(
            build_clip_of_another_size,
            r"text_projection.weight: \(24, 32\), not \(12, 32\)",
            id="CLIP with tensors of another size",
        ),
        pytest.param(
            partial(releases.build, "blip_2_itm"),
            "Blip2ForImageTextRetrieval does not embed texts and images",
            id="BLIP-2, image-text matching",
        ),
        pytest.param(
            partial(releases.build, "colpali"),
            "ColPaliForRetrieval does not embed texts and images",
            id="ColPali",
        ),
        pytest.param(
            partial(releases.build, "blip-2"),
            "makes shape .* of a text and .* of an image",
            id="a captioner that has features",
        ),
        pytest.param(
            partial(releases.build, "llava"),
            "LlavaForConditionalGeneration does not embed texts and images",
            id="a chat model",
        ),
    ],
)
def test_a_checkpoint_that_cannot_encode_texts_and_images_is_refused(
    build: BuildCheckpoint, expected_message: str, tmp_path: Path
) -> None:
    build(tmp_path / "model")

    with pytest.raises(ModelError, match=expected_message):
        encode(tmp_path / "model", tmp_path, batch_size=64)
