import io

import pytest
from PIL import Image

from bench_assets.core.errors import SettingsError, SourceError
from bench_assets.multi.markup import leftover_tags, prepare
from bench_assets.multi.table_picture import draw_table
from tests.multi.rows import item

JOINED = "<table><tr><td colspan='2'>a</td></tr><tr><td>b</td><td>c</td></tr></table>"


def html(text):
    return prepare(item(specific=text, format="html")).item.specific


@pytest.mark.parametrize(
    ("raw", "markdown"),
    [
        pytest.param('<p align="center"><font color="red">甲</font></p>', "甲", id="layout goes"),
        pytest.param("<div>甲</div><!-- ad --><script>x()</script>乙", "甲\n乙", id="code goes"),
        pytest.param("<b>甲</b>与<i>乙</i>", "**甲**与*乙*", id="bold and italic"),
        pytest.param("<strong>甲</strong>和<em>乙</em>", "**甲**和*乙*", id="strong and em"),
        pytest.param("<u>甲</u>", "<u>甲</u>", id="underlining stays"),
        pytest.param("甲<br/>乙", "甲\n乙", id="line breaks"),
        pytest.param("<p>甲</p><p>乙</p>", "甲\n乙", id="paragraphs"),
        pytest.param("H<sub>2</sub>O 与 x<sup>2</sup>", "H$_{2}$O 与 x$^{2}$", id="indices"),
        pytest.param(r"$\frac{1}{2} < x_1 * y_1$", r"$\frac{1}{2} < x_1 * y_1$", id="LaTeX stays"),
        pytest.param(r'<img data-latex="\sqrt{2}" src="f.gif">', r"$\sqrt{2}$", id="drawn formula"),
        pytest.param("答案是<u>&nbsp;&nbsp;</u>。", "答案是[MASK]。", id="a blank to fill in"),
        pytest.param("选（　）", "选[MASK]", id="empty brackets"),
        pytest.param("等于______", "等于[MASK]", id="a line to fill in"),
        pytest.param("1 &lt; 2 &amp; 3", "1 < 2 & 3", id="entities"),
        pytest.param(
            "<table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td></tr></table>",
            "| x | y |\n| --- | --- |\n| 1 | 2 |",
            id="a plain table",
        ),
    ],
)
def test_html_becomes_markdown(raw, markdown):
    assert html(raw) == markdown


def test_pictures_become_tokens_after_those_there_are():
    raw = item(
        general='如图<img src="../data/images/raw/2.png">',
        specific='与[IMAGE_1]及<img src="3.png">',
        images=("1.png",),
        format="html",
    )
    prepared = prepare(raw).item
    assert prepared.text == "如图[IMAGE_2]\n与[IMAGE_1]及[IMAGE_3]"
    assert prepared.images == ("1.png", "raw/2.png", "3.png")


@pytest.mark.parametrize(
    "table",
    [
        pytest.param(JOINED, id="joined cells"),
        pytest.param(
            "<table><tr><td>a</td></tr><tr><td>b</td><td>c</td></tr></table>", id="ragged"
        ),
        pytest.param("<table><tr><td><img src='a.png'></td></tr></table>", id="a picture inside"),
        pytest.param(
            "<table><tr><td><table><tr><td>a</td></tr></table></td></tr></table>", id="nested"
        ),
    ],
)
def test_a_table_that_markdown_cannot_say_becomes_a_picture(table):
    prepared = prepare(item(specific=f"见表{table}", format="html"))
    assert prepared.item.specific == "见表[IMAGE_1]"
    assert prepared.item.images == ("tables/gzsx_1_0_1.png",)
    assert list(prepared.tables) == ["tables/gzsx_1_0_1.png"]


def test_markdown_stays_as_it_is_and_plain_text_loses_its_blanks():
    markdown = "**甲**\n\n| a |\n| --- |"
    assert prepare(item(specific=markdown)).item.specific == markdown
    assert (
        prepare(item(specific=" 甲  乙 \n\n丙（ ）", format="text")).item.specific
        == "甲 乙\n丙[MASK]"
    )


def test_another_format_is_refused_by_name():
    with pytest.raises(SourceError, match=r"gzsx_1_0: format 'docx'"):
        prepare(item(format="docx"))


def test_leftover_tags():
    assert leftover_tags("<u>甲</u>，a<b 且 c>d") == []
    assert leftover_tags("<span class='x'>甲</span>") == ["<span class='x'>", "</span>"]


def test_a_table_is_drawn_with_a_cell_joined_over_two_columns():
    with Image.open(io.BytesIO(draw_table(JOINED))) as picture:
        grey = picture.convert("L")
    width, height = grey.size
    column = [grey.getpixel((width // 2, y)) for y in range(height)]
    upper, lower = height // 4, 3 * height // 4
    assert grey.getpixel((width // 2, lower)) == 0, "a border between b and c"
    assert column[upper // 2] == 255, "no border inside a"


def test_a_font_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"none\.ttf: no such font"):
        draw_table(JOINED, tmp_path / "none.ttf")
