"""Encoders for retrieval: vectors are those of the model's own forward, or it is refused."""

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

Build: TypeAlias = Callable[[Path], None]
Card: TypeAlias = Callable[[Path, list[Image.Image]], list[list[float]]]


def images() -> list[Image.Image]:
    rng = np.random.default_rng(0)
    return [
        Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8))
        for width, height in SIZES
    ]


def stored(image_store: ImageStore, folder: Path) -> list[str]:
    for n, image in enumerate(images()):
        image.save(folder / f"{n}.png")
    return [image_store.put_file(folder / f"{n}.png").sha256 for n in range(len(SIZES))]


def embedded(model: Path, folder: Path, batch_size: int) -> tuple[Vectors, Vectors]:
    image_store = ImageStore(folder=str(folder / "images"))
    seen = stored(image_store, folder)
    spec = EncoderSpec(path=str(model), device="cpu", batch_size=batch_size)
    with open_encoder("m", spec, str(model), image_store) as encoder:
        return encoder.encode_texts(TEXTS), encoder.encode_images(seen)


def by_both_towers(**padding: Any) -> Card:
    """Ask as the cards of CLIP and SigLIP do; cosines of each text with each image."""

    def cosines(folder: Path, shown: list[Image.Image]) -> list[list[float]]:
        from transformers import AutoModel, AutoProcessor

        processor = AutoProcessor.from_pretrained(folder)
        inputs = processor(
            text=TEXTS, images=shown, return_tensors="pt", truncation=True, **padding
        )
        out = AutoModel.from_pretrained(folder)(**inputs)
        return (out.text_embeds @ out.image_embeds.T).tolist()  # both of length 1

    return cosines


@pytest.mark.parametrize(
    ("build", "by_card"),
    [
        pytest.param(
            partial(releases.build, "clip"), by_both_towers(padding=True, max_length=77), id="CLIP"
        ),
        pytest.param(
            partial(releases.build, "siglip"),
            by_both_towers(padding="max_length", max_length=64),
            id="SigLIP",
            marks=pytest.mark.long,
        ),
        pytest.param(
            partial(releases.build, "siglip2"),
            by_both_towers(padding="max_length", max_length=64, patch_size=14, max_num_patches=16),
            id="SigLIP 2",  # whose processor would take the patches of a release
        ),
    ],
)
def test_vectors_are_those_of_the_card_alone_and_in_a_batch(
    build: Build, by_card: Card, tmp_path: Path
) -> None:
    build(tmp_path / "model")
    texts, seen = embedded(tmp_path / "model", tmp_path, batch_size=64)
    alone_texts, alone_seen = embedded(tmp_path / "model", tmp_path, batch_size=1)
    assert texts == pytest.approx(alone_texts, abs=1e-5)
    assert seen == pytest.approx(alone_seen, abs=1e-5)
    assert texts @ seen.T == pytest.approx(
        np.array(by_card(tmp_path / "model", images())), abs=1e-5
    )
    assert len(np.unique(np.concatenate([texts, seen]).round(3), axis=0)) == 6


def test_siglip_2_reads_small_letters_only(tmp_path: Path) -> None:
    releases.build("siglip2", tmp_path / "model")
    image_store = ImageStore(folder=str(tmp_path / "images"))
    spec = EncoderSpec(path=str(tmp_path / "model"), device="cpu")
    with open_encoder("m", spec, str(tmp_path / "model"), image_store) as encoder:
        large, small = encoder.encode_texts(["A DOG", "a dog"])
    assert large == pytest.approx(small)


def without_a_tensor(folder: Path) -> None:
    from safetensors.numpy import load_file, save_file

    releases.build("clip", folder)
    tensors = load_file(folder / "model.safetensors")
    del tensors["visual_projection.weight"]
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})


def of_another_size(folder: Path) -> None:
    releases.build("clip", folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"projection_dim": 12}))


@pytest.mark.parametrize(
    ("build", "why"),
    [
        pytest.param(
            without_a_tensor,
            "1 tensors are missing, such as visual_projection.weight",
            id="CLIP without a tensor",
        ),
        pytest.param(
            of_another_size,
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
            partial(releases.build, "blip-2"), "makes", id="a captioner that has features"
        ),
        pytest.param(
            partial(releases.build, "llava"),
            "LlavaForConditionalGeneration does not embed texts and images",
            id="a chat model",
        ),
    ],
)
def test_what_makes_no_vectors_of_one_space_is_refused(
    build: Build, why: str, tmp_path: Path
) -> None:
    build(tmp_path / "model")
    with pytest.raises(ModelError, match=why):
        embedded(tmp_path / "model", tmp_path, batch_size=64)
