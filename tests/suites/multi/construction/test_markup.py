import io
import re

import pytest
from PIL import Image

from bench_assets.core.schema.errors import ImageError, SettingsError
from bench_assets.suites.multi.construction.item_checks import defects
from bench_assets.suites.multi.construction.markup import convert_item, draw_table, leftover_tags
from tests.suites.multi.rows import item

JOINED = "<table><tr><td colspan='2'>a</td></tr><tr><td>b</td><td>c</td></tr></table>"


def html(text):
    return convert_item(item(specific=text, format="html")).item.specific


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
        pytest.param("若$x<y$ 且 $y>z$，则", "若$x<y$ 且 $y>z$，则", id="signs in formulas"),
        pytest.param("$a<b>c$", "$a<b>c$", id="a comparison that looks like a tag"),
        pytest.param("$x &lt; y$<br>乙", "$x < y$\n乙", id="an entity in a formula"),
        pytest.param(r"\(x<y\)与\[y>z\]", r"\(x<y\)与\[y>z\]", id="other signs of formulas"),
        pytest.param("$$x<y$$", "$$x<y$$", id="a formula of its own line"),
        pytest.param("若x<y且y>z", "若x<y且y>z", id="signs in a text"),
        pytest.param("若a<b且<b>甲</b>", "若a<b且**甲**", id="a sign before a tag"),
        pytest.param("$5与<b>甲</b>共$6", "$5与**甲**共$6", id="money is no formula"),
        pytest.param("List<int>与<foo>", "List<int>与<foo>", id="what is no tag of HTML"),
        pytest.param('<p title="x>y">甲</p>', "甲", id="a sign in an attribute"),
        pytest.param("void main()和printf( );", "void main()和printf( );", id="calls of functions"),
        pytest.param("int main( ){}", "int main( ){}", id="a function that is declared"),
        pytest.param("函数main（）的作用", "函数main（）的作用", id="a call in wide brackets"),
        pytest.param("He is a(  ).", "He is a[MASK].", id="a blank in English"),
        pytest.param("用到了x( )个数", "用到了x[MASK]个数", id="a blank after a letter"),
        pytest.param("$f()$的值是()", "$f()$的值是[MASK]", id="brackets in a formula"),
        pytest.param("$x=____$", "$x=[MASK]$", id="a line to fill in a formula"),
        pytest.param("SO<sub>4</sub><sup>2-</sup>", "SO$_{4}^{2-}$", id="an ion"),
        pytest.param("NH<sub>4</sub><sup>+</sup>", "NH$_{4}^{+}$", id="another ion"),
        pytest.param("<sup>14</sup><sub>6</sub>C", "$^{14}_{6}$C", id="an isotope"),
        pytest.param("$a$ $b$与$a$$b$", "$a$ $b$与$a$$b$", id="formulas side by side"),
        pytest.param("$a$$x<y$", "$a$$x<y$", id="a sign in the second of two"),
        pytest.param("$x$<sub>1</sub>", "$x$$_{1}$", id="an index of a formula"),
        pytest.param("a<sub><i>n</i>+1</sub>", "a$_{n+1}$", id="italics in an index"),
        pytest.param("x<sup><b>2</b></sup>", "x$^{2}$", id="bold in an index"),
        pytest.param("a<sub>n<sub>1</sub></sub>", "a$_{n_{1}}$", id="an index of an index"),
        pytest.param("2<sup>x<sup>2</sup></sup>", "2$^{x^{2}}$", id="a power of a power"),
        pytest.param("a<sub>$x$</sub>", "a$_{x}$", id="a formula in an index"),
        pytest.param("a<sub>5%</sub>", "a$_{5\\%}$", id="a sign that begins a comment"),
        pytest.param("a<sub>A&amp;B#</sub>", r"a$_{A\&B\#}$", id="signs of LaTeX in an index"),
        pytest.param("E<sup>{a}</sup>", r"E$^{\{a\}}$", id="braces in an index"),
        pytest.param(r"E<sup>$\sqrt{2}$</sup>", r"E$^{\sqrt{2}}$", id="braces of a formula there"),
        pytest.param("[M(NH<sub>3</sub>)]<sup>2+</sup>", "[M(NH$_{3}$)]$^{2+}$", id="a complex"),
        pytest.param(
            "SO<span><sub>4</sub></span><sup>2-</sup>", "SO$_{4}^{2-}$", id="an ion with layout"
        ),
        pytest.param(
            "CO<sup>2-</sup><sub>3</sub>", "CO$^{2-}_{3}$", id="an ion the other way round"
        ),
        pytest.param(r"\(a\)\(b\)$$c$$$d$", r"\(a\)\(b\)$$c$$$d$", id="all signs side by side"),
        pytest.param("甲<sup> </sup>", "甲", id="an empty index"),
        pytest.param("<bdo dir='ltr'>甲</bdo>", "甲", id="a direction"),
        pytest.param("<ruby>拼<rt>pīn</rt></ruby>音", "拼（pīn）音", id="a reading"),
        pytest.param(
            "<ruby>拼<rp>(</rp><rt>pīn</rt><rp>)</rp></ruby>", "拼(pīn)", id="in brackets already"
        ),
        pytest.param(
            "<ol><li>甲<ol><li>子</li><li>丑</li></ol></li><li>乙</li></ol>",
            "1. 甲\n   1. 子\n   2. 丑\n2. 乙",
            id="a list in a list",
        ),
        pytest.param(
            "<ul><li>甲<ul><li>子</li></ul></li></ul>", "* 甲\n  + 子", id="points in points"
        ),
        pytest.param(
            '选<ol type="A"><li>甲</li><li>乙</li></ol>', "选\nA. 甲\nB. 乙", id="a list of letters"
        ),
        pytest.param(
            "<ol reversed><li>甲</li><li>乙</li><li>丙</li></ol>",
            "3. 甲\n2. 乙\n1. 丙",
            id="a list that counts down",
        ),
        pytest.param(
            '<ol reversed start="10"><li>甲</li><li>乙</li></ol>',
            "10. 甲\n9. 乙",
            id="down from ten",
        ),
        pytest.param(
            '<ol type="i" start="4"><li>甲</li><li>乙</li></ol>',
            "iv. 甲\nv. 乙",
            id="Roman numerals",
        ),
        pytest.param(
            '<ol style="list-style-type: upper-roman"><li>甲<li>乙</ol>',
            "I. 甲\nII. 乙",
            id="Roman numerals by CSS, entries left open",
        ),
        pytest.param(
            '<ol type="a" start="26"><li>甲</li><li>乙</li></ol>', "Z. 甲\nAA. 乙", id="after Z"
        ),
        pytest.param(
            '<ol><li>甲</li><li value="7">乙</li><li>丙</li></ol>',
            "1. 甲\n7. 乙\n8. 丙",
            id="a number of its own",
        ),
        pytest.param("<ol start='3'><li>甲<li>乙</ol>", "3. 甲\n4. 乙", id="from three, left open"),
        pytest.param(
            "每支$5，设买$x$支，$x&gt;3$", r"每支\$5，设买$x$支，$x>3$", id="money before formulas"
        ),
        pytest.param(
            "$x=1$ costs $1,200.50.", r"$x=1$ costs \$1,200.50.", id="money after a formula"
        ),
        pytest.param("$3，4$与$5x$", "$3，4$与$5x$", id="formulas that begin with a number"),
        pytest.param(
            "<table><tr><td>a|b</td><td>$|x|$</td></tr></table>",
            "| | |\n| --- | --- |\n| a\\|b | $\\vert x\\vert $ |",
            id="bars in a table",
        ),
        pytest.param(
            r"<table><tr><th>$\|v\|$</th><th>y</th></tr><tr><td>1</td><td>2</td></tr></table>",
            "| $\\Vert v\\Vert $ | y |\n| --- | --- |\n| 1 | 2 |",
            id="norms in a table",
        ),
        pytest.param(
            "<table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td></tr></table>",
            "| x | y |\n| --- | --- |\n| 1 | 2 |",
            id="a plain table",
        ),
    ],
)
def test_html_becomes_markdown(raw, markdown):
    assert html(raw) == markdown


def test_images_become_tokens_after_those_there_are():
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
def test_a_table_that_markdown_cannot_say_becomes_a_image(table):
    prepared = convert_item(item(specific=f"见表{table}", format="html"))
    assert prepared.item.specific == "见表[IMAGE_1]"
    assert prepared.item.images == ("tables/gzsx_1_0_1.png",)
    assert list(prepared.tables) == ["tables/gzsx_1_0_1.png"]


def test_markdown_stays_as_it_is_and_plain_text_loses_its_blanks():
    markdown = "**甲**\n\n| a |\n| --- |"
    assert convert_item(item(specific=markdown)).item.specific == markdown
    assert (
        convert_item(item(specific=" 甲  乙 \n\n丙（ ）", format="text")).item.specific
        == "甲 乙\n丙[MASK]"
    )


@pytest.mark.parametrize(
    ("format_", "raw"),
    [
        pytest.param("html", "若$x<y$ 且 $y>z$，x<y且y>z（ ）", id="formulas and a blank"),
        pytest.param("html", f"见表{JOINED}和<u>甲</u>", id="a drawn table"),
        pytest.param("html", "<table><tr><td>$|x|$</td></tr></table>", id="bars in a table"),
        pytest.param("text", "1+1=____ <甲>", id="plain text"),
        pytest.param("html", "<script>x<y</script>甲<!-- 乙 -->", id="what no reader sees"),
    ],
)
def test_no_character_is_lost(format_, raw):
    assert convert_item(item(specific=raw, format=format_)).item.lost == ""


def test_tags_that_are_nested_too_deeply_are_a_defect_of_their_item():
    prepared = convert_item(item(specific="<div>" * 5_000 + "甲", format="html")).item
    assert "characters were lost in its preparation: tags nested too deeply" in defects(prepared)


@pytest.mark.parametrize(
    "math",
    [
        "<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>",
        "<math><msup><mi>x</mi><mn>2</mn></msup></math>",
        "<m:math><m:mi>x</m:mi></m:math>",
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><msqrt><mn>2</mn></msqrt></math>',
    ],
)
def test_mathml_is_a_defect_and_no_text_without_its_structure(math):
    prepared = convert_item(
        item(specific=f"{math}是[MASK]", type="FB", answer="1", format="html")
    ).item
    assert any(re.search("HTML is left: <(m:)?math", defect) for defect in defects(prepared))


def test_a_lost_character_is_flagged_by_what_is_lost():
    raw = "甲<script>乙丙"  # nothing closes it: a parser takes all the rest for code
    prepared = convert_item(item(specific=raw, format="html")).item
    assert (prepared.specific, prepared.lost) == ("甲", "乙丙")
    assert "characters were lost in its preparation: 乙丙" in defects(prepared)


def test_leftover_tags():
    assert leftover_tags("<u>甲</u>，a<b 且 c>d") == []
    assert leftover_tags("<span class='x'>甲</span>") == ["<span class='x'>", "</span>"]


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
    ("html", "why"),
    [
        pytest.param("<table></table>", "no cells", id="no cells"),
        pytest.param("\ud800", "no cells", id="half a surrogate pair"),
        pytest.param('<table><tr><td colspan="99999999999">a', "spans", id="joined too widely"),
        pytest.param('<table><tr><td rowspan="999" colspan="999">a', "spans", id="in both ways"),
        pytest.param(f'<table><tr><td colspan="{"9" * 5000}">a', "spans", id="no number at all"),
        pytest.param(f"<table><tr><td>{'a' * 30_000}", "30000 characters", id="a long word"),
        pytest.param(
            f"<table>{LONG_ROW * 60}</table>", "too large", id="too large", marks=pytest.mark.long
        ),
    ],
)
def test_a_table_that_cannot_be_drawn_says_why(html, why):
    with pytest.raises(ImageError, match=why):
        draw_table(html)


def test_a_line_break_in_a_cell_is_a_blank():
    assert draw_table("<table><tr><td>a\nb") == draw_table("<table><tr><td>a b")


def test_a_font_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"none\.ttf: no such font"):
        draw_table(JOINED, tmp_path / "none.ttf")
