import pytest

from bench_resources.checkpoints.identity import pin
from bench_resources.models.transformers.image_tokens import ImageTokens
from bench_resources.models.transformers.processor import load_processor
from tests.resources.models.transformers.tiny_engine import spec_of


@pytest.mark.parametrize(
    ("family", "size", "expected"),
    [
        # A token is 28 x 28 px; sides are rounded to multiples of that.
        pytest.param("qwen2_5_vl", (280, 140), 10 * 5, id="Qwen2.5-VL: by area"),
        pytest.param("qwen2_5_vl", (290, 130), 10 * 5, id="Qwen2.5-VL: rounded"),
        # Tiles of 56 x 56 px and a small copy of the whole, 4 tokens each, and two marks around.
        pytest.param("internvl", (56, 56), 4 + 2, id="InternVL: one tile needs no copy"),
        pytest.param("internvl", (224, 56), (4 + 1) * 4 + 2, id="InternVL: four tiles in a row"),
        # 16 of the whole; of a 112 x 112 grid 8 x 8, each of 8 rows with an end of line.
        pytest.param("llava_next", (200, 200), 16 + 8 * (8 + 1), id="LLaVA-NeXT: a square grid"),
        pytest.param("llava_next", (112, 56), 16 + 4 * (8 + 1), id="LLaVA-NeXT: a wide grid"),
        pytest.param("llava", (640, 480), 16, id="LLaVA-1.5: 4 x 4 patches, always"),
        # A token before the image and one behind it.
        pytest.param("idefics2", (640, 480), 4 + 2, id="Idefics2: one size"),
        pytest.param("idefics2", (1, 7), 4 + 2, id="Idefics2: the same of a tiny image"),
    ],
)
def test_tokens_are_counted_by_the_rules_of_the_family(release, family, size, expected):
    folder = release(family)
    tokens = ImageTokens(load_processor(spec_of(folder), pin(str(folder))))
    assert tokens.count(*size) == expected
