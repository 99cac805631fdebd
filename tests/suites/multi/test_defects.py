import pytest

from bench_assets.suites.multi.construction.item_checks import defects
from tests.suites.multi.rows import item


def options(*texts):
    return "选[MASK]\n" + "\n".join(
        f"{a}. {t}" for a, t in zip("ABCDEFGHIJKLMN", texts, strict=False)
    )


@pytest.mark.parametrize(
    ("fields", "defect"),
    [
        pytest.param(
            {"specific": options("甲", "甲")}, "two options are equal", id="equal options"
        ),
        pytest.param(
            {"specific": "选[MASK]\nA. 甲\nB. \nC. 丙"}, "an option is empty", id="empty option"
        ),
        pytest.param({"specific": options("甲")}, "1 options, expected 2 to 13", id="one option"),
        pytest.param({"specific": options(*map(str, range(14)))}, "14 options", id="fourteen"),
        pytest.param({"answer": "E"}, "'E' is not among ABCD", id="the answer is not offered"),
        pytest.param({"answer": "AB"}, "2 answers, expected one", id="two answers for SA"),
        pytest.param({"type": "MA"}, "1 answers, expected several", id="one answer for MA"),
        pytest.param({"type": "MA", "answer": "AA"}, "an option twice", id="a letter twice"),
        pytest.param(
            {"specific": "选\nA. 甲\nB. 乙"}, "there is no [MASK]", id="nothing to fill in"
        ),
        pytest.param(
            {"type": "FB", "specific": "[MASK]和[MASK]", "answer": "氢"},
            "2 blanks and 1",
            id="blanks",
        ),
        pytest.param({"specific": "<p>选[MASK]</p>"}, "HTML is left: <p> </p>", id="HTML"),
        pytest.param({"general": "已知$x^2"}, "a formula is broken", id="a dollar alone"),
        pytest.param({"general": r"$\frac{}{2}$"}, "a formula is broken", id="an empty fraction"),
        pytest.param({"general": "在$32$, $$之间"}, "a formula is broken", id="an empty formula"),
        *(
            pytest.param({"general": text}, "a formula is broken", id=text)
            for text in ("$ $", "$$ $$", "$$x$", "$a$b$", "$$x=1", r"$\{x{$")
        ),
        pytest.param({"general": r"$\sqrt{2$"}, "a formula is broken", id="a brace open"),
        pytest.param(
            {"general": "[IMAGE_2]", "images": ("a",)}, "image 2 of 1", id="no such image"
        ),
        pytest.param({"answer": ""}, "the answer is empty", id="no answer"),
        pytest.param({"general": "\ufffd"}, "lost one", id="a lost character"),
    ],
)
def test_a_defect_is_found(fields, defect):
    assert any(defect in found for found in defects(item(**fields)))


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="single answer"),
        pytest.param({"type": "MA", "answer": "AC"}, id="several answers"),
        pytest.param(
            {"specific": options(*map(str, range(13))), "answer": "M"}, id="thirteen options"
        ),
        pytest.param(
            {"type": "FB", "specific": "[MASK]是[MASK]", "answer": "水\nH或氢"}, id="blanks"
        ),
        pytest.param({"type": "OP", "specific": "试分析", "answer": "因为"}, id="open"),
        pytest.param({"type": "Other", "specific": "作图", "answer": ""}, id="other"),
        *(
            pytest.param({"general": text}, id=text)
            for text in (
                *("SO$_4$$^{2-}$", "NH$_{4}^{+}$", "$^{14}$$_{6}$C", "$a$ $b$", "$a$$b$"),
                *("$$x=1$$", "$$x$$$y$", r"$\left\{x\right.$", r"\(x\)与\[y\]"),
            )
        ),
        pytest.param({"general": r"价格为\$5，$\frac{1}{2}<x$"}, id="a dollar that is money"),
    ],
)
def test_a_sound_item_has_none(fields):
    assert defects(item(**fields)) == []
