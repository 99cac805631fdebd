import io
import re

import pytest
from PIL import Image

from bench_assets.core.schema.errors import ImageError, SettingsError
from bench_assets.suites.multi.construction.item_checks import defects
from bench_assets.suites.multi.construction.markup import (
    convert_item,
    draw_table,
    ocr_engine,
    recognize_texts,
)
from bench_assets.suites.multi.synthetic.edition import draw
from tests.cases import read_cases
from tests.fakes.multi_rows import item

JOINED = "<table><tr><td colspan='2'>a</td></tr><tr><td>b</td><td>c</td></tr></table>"


def to_markdown(html):
    return convert_item(item(specific=html, format="html")).item.specific


@pytest.mark.parametrize(("raw", "markdown"), read_cases(__file__, "html_markdown.jsonl"))
def test_html_becomes_markdown(raw, markdown):
    assert to_markdown(raw) == markdown


def test_images_become_tokens_numbered_after_the_existing_ones():
    raw = item(
        general='如图<img src="../data/images/raw/2.png">',
        specific='与[IMAGE_1]及<img src="3.png">',
        images=("1.png",),
        format="html",
    )
    prepared = convert_item(raw).item
    assert prepared.text == "如图[IMAGE_2]\n与[IMAGE_1]及[IMAGE_3]"
    assert prepared.images == ("1.png", "raw/2.png", "3.png")


@pytest.mark.parametrize(
    "table",
    [
        pytest.param(JOINED, id="joined cells"),
        pytest.param(
            "<table><tr><td>a</td></tr><tr><td>b</td><td>c</td></tr></table>", id="ragged"
        ),
        pytest.param("<table><tr><td><img src='a.png'></td></tr></table>", id="an image inside"),
        pytest.param(
            "<table><tr><td><table><tr><td>a</td></tr></table></td></tr></table>", id="nested"
        ),
    ],
)
def test_a_table_that_markdown_cannot_express_becomes_an_image(table):
    prepared = convert_item(item(specific=f"见表{table}", format="html"))
    assert prepared.item.specific == "见表[IMAGE_1]"
    assert prepared.item.images == ("tables/gzsx_1_0_1.png",)
    assert list(prepared.tables) == ["tables/gzsx_1_0_1.png"]


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param("若$x<y$ 且 $y>z$，x<y且y>z（ ）", id="formulas and a blank"),
        pytest.param(f"见表{JOINED}和<u>甲</u>", id="a drawn table"),
        pytest.param("<table><tr><td>$|x|$</td></tr></table>", id="bars in a table"),
        pytest.param("<script>x<y</script>甲<!-- 乙 -->", id="what no reader sees"),
    ],
)
def test_no_character_is_lost(raw):
    assert convert_item(item(specific=raw, format="html")).item.lost == ""


def test_tags_that_are_nested_too_deeply_are_a_defect_of_their_item():
    nested = item(specific="<div>" * 5_000 + "甲", format="html")
    assert convert_item(nested).item == nested
    assert "its tags are nested too deeply to convert it to Markdown" in defects(nested)


@pytest.mark.parametrize(
    "math",
    [
        "<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>",
        "<m:math><m:mi>x</m:mi></m:math>",
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><msqrt><mn>2</mn></msqrt></math>',
    ],
)
def test_mathml_is_a_defect(math):
    prepared = convert_item(
        item(specific=f"{math}是[MASK]", type="FB", answer="1", format="html")
    ).item
    assert any(re.search("HTML is left: <(m:)?math", defect) for defect in defects(prepared))


def test_a_table_is_drawn_with_a_cell_joined_over_two_columns():
    with Image.open(io.BytesIO(draw_table(JOINED))) as image:
        grey = image.convert("L")
    width, height = grey.size
    column = [grey.getpixel((width // 2, y)) for y in range(height)]
    upper, lower = height // 4, 3 * height // 4
    assert grey.getpixel((width // 2, lower)) == 0, "a border between b and c"
    assert column[upper // 2] == 255, "no border inside a"


LONG_ROW = f"<tr><td>{'m' * 19_000}</td></tr>"


@pytest.mark.parametrize(
    ("html", "expected_message"),
    [
        pytest.param("<table></table>", "no cells", id="no cells"),
        pytest.param("\ud800", "no cells", id="half a surrogate pair"),
        pytest.param("<table><tr><td><img src='a.png'>", "has an image", id="an image"),
        pytest.param('<table><tr><td colspan="99999999999">a', "spans", id="joined too widely"),
        pytest.param(f"<table><tr><td>{'a' * 30_000}", "30000 characters", id="a long word"),
        pytest.param(
            f"<table>{LONG_ROW * 60}</table>", "too large", id="too large", marks=pytest.mark.long
        ),
    ],
)
def test_a_table_that_cannot_be_drawn_is_an_error(html, expected_message):
    with pytest.raises(ImageError, match=expected_message):
        draw_table(html)


def test_a_font_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"none\.ttf: no such font"):
        draw_table(JOINED, tmp_path / "none.ttf")


def draw_image(**figure):
    return Image.open(io.BytesIO(draw(figure)))


def test_the_ocr_engine_reads_a_table_and_no_text_in_shapes():
    images = {
        "table": draw_image(kind="table", rows=[["T", "20", "40"], ["S", "32", "64"]]),
        "shapes": draw_image(kind="forms", forms=[["rectangle", "red"], ["triangle", "blue"]]),
    }
    assert dict(recognize_texts(images.items())) == {"table": "T、20、40、S、32、64", "shapes": ""}
    assert ocr_engine().startswith("rapidocr 3")
