from dataclasses import replace
from string import ascii_uppercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_assets.suites.multi.construction.item_checks import MASK, defects
from bench_assets.suites.multi.construction.question_transforms import (
    choose_elements,
    negate,
    split_blanks,
    to_blank,
    with_options,
)
from bench_assets.suites.multi.construction.rewriting import (
    RULES,
    apply,
    proposal_prompt,
    read_proposal,
    transformations,
)
from bench_assets.suites.multi.dataset.questions import blanks_in, split_options
from tests.suites.multi.rows import item


def single(stem, *options, answer="B", **fields):
    return item(specific=with_options(stem, options), answer=answer, **fields)


def test_example_1_combined_numbers_become_options():
    """Figure 6 (1): answer C, "2和4", of 1和3, 2和3, 2和4, 1和5."""
    before = single("调换的孩子是[MASK]", "1和3", "2和3", "2和4", "1和5", answer="C")
    (after,) = choose_elements(before)
    assert after.specific == "调换的孩子是[MASK]\nA. 1\nB. 2\nC. 3\nD. 4\nE. 5"
    assert (after.type, after.answer) == ("MA", "BD")


def test_example_3_statements_become_options():
    """Figure 6 (3): answer B, "②③④"."""
    stem = "DNA数目为体细胞两倍的时期是[MASK]\n①间期 ②前期 ③中期 ④后期 ⑤末期"
    before = single(stem, "①②③", "②③④", "②③⑤", "①③⑤", answer="B")
    (after,) = choose_elements(before)
    assert after.specific == (
        "DNA数目为体细胞两倍的时期是[MASK]\nA. 间期\nB. 前期\nC. 中期\nD. 后期\nE. 末期"
    )
    assert (after.type, after.answer) == ("MA", "BCD")


def test_statements_before_the_blank_stay_where_they_are():
    stem = "有①甲；②乙；③丙，其中对的是[MASK]"
    (after,) = choose_elements(single(stem, "①②", "②③", answer="A"))
    assert after.specific == f"{stem}\nA. ①\nB. ②\nC. ③"
    assert after.answer == "AB"


def test_example_2_the_negation_asks_for_the_others():
    """Figure 6 (2): "其原因是" with C becomes "其原因不是" with ABD."""
    (after,) = negate(single("其原因是[MASK]", "甲", "乙", "丙", "丁", answer="C"))
    assert after.specific == "其原因不是[MASK]\nA. 甲\nB. 乙\nC. 丙\nD. 丁"
    assert (after.type, after.answer) == ("MA", "ABD")


def test_example_5_parallel_blanks_become_questions_of_their_own():
    """Figure 6 (5), without its second change, 这种酶 for 蔗糖酶."""
    before = item(
        type="FB", specific="酶能催化[MASK]水解为[MASK]和[MASK]。", answer="蔗糖\n果糖\n葡萄糖"
    )
    first, second = split_blanks(before)
    assert (first.specific, first.answer) == ("酶能催化[MASK]水解为[MASK]和果糖。", "蔗糖\n葡萄糖")
    assert (second.specific, second.answer) == ("酶能催化蔗糖水解为[MASK]和葡萄糖。", "果糖")
    assert (first.item_id, second.item_id) == ("gzsx_1_0a", "gzsx_1_0b")


def test_a_blank_takes_the_place_of_options():
    (after,) = to_blank(single("水的化学式是[MASK]", "HO", "H2O", "O2"))
    assert (after.type, after.specific, after.answer) == ("FB", "水的化学式是[MASK]", "H2O")


@pytest.mark.parametrize(
    ("make", "before"),
    [
        pytest.param(
            choose_elements, single("选[MASK]", "甲", "乙"), id="options that combine nothing"
        ),
        pytest.param(choose_elements, single("得[MASK]", "10", "20", "30"), id="plain numbers"),
        pytest.param(
            choose_elements, single("选[MASK]", "①②", "③"), id="the right one names one element"
        ),
        pytest.param(
            choose_elements, single("选[MASK]", "①②", "②①", answer="A"), id="all are right"
        ),
        pytest.param(negate, single("不对的是[MASK]", "甲", "乙", "丙"), id="negated already"),
        pytest.param(negate, single("是[MASK]", "甲", "乙"), id="one option would be left"),
        pytest.param(negate, single("求[MASK]", "甲", "乙", "丙"), id="nothing to negate"),
        pytest.param(
            split_blanks, item(type="FB", specific="[MASK]得[MASK]", answer="甲\n乙"), id="apart"
        ),
        pytest.param(
            split_blanks, item(type="FB", specific="[MASK]和[MASK]", answer="甲"), id="a gold lacks"
        ),
        pytest.param(
            to_blank, single("下列正确的是[MASK]", "甲甲", "乙乙"), id="it asks for options"
        ),
        pytest.param(to_blank, single("是[MASK]", "甲", "很长" * 9), id="a long text"),
        pytest.param(to_blank, single("是[MASK]", "甲", "乙或丙"), id="或 would mean two answers"),
        pytest.param(to_blank, single("是[MASK]", "[IMAGE_1]", "[IMAGE_2]"), id="images"),
    ],
)
def test_where_a_rule_does_not_apply_nothing_is_made(make, before):
    assert make(before) == []


SOUND = st.text("甲乙丙丁戊己庚辛壬癸", min_size=1, max_size=6)
STEMS = st.sampled_from(["其原因是[MASK]", "可知[MASK]成立", "正确的是[MASK]", "它的名称是[MASK]"])


@st.composite
def singles(draw):
    combined = draw(st.booleans())
    one = st.lists(st.sampled_from("①②③④⑤"), min_size=1, max_size=4, unique=True)
    text = one.map(lambda marks: "".join(sorted(marks))) if combined else SOUND
    options = draw(st.lists(text, min_size=2, max_size=8, unique=True))
    stem = draw(STEMS) + ("\n①子 ②丑 ③寅 ④卯 ⑤辰" if combined and draw(st.booleans()) else "")
    return single(stem, *options, answer=ascii_uppercase[draw(st.integers(0, len(options) - 1))])


@st.composite
def blanks(draw):
    n = draw(st.integers(1, 5))
    joints = draw(st.lists(st.sampled_from(["和", "、", "得到", "与"]), min_size=n, max_size=n))
    text = "由" + "".join(MASK + joint for joint in joints)
    golds = draw(st.lists(SOUND, min_size=n, max_size=n))
    return item(
        type="FB", general=draw(st.sampled_from(["", "设"])), specific=text, answer="\n".join(golds)
    )


@given(st.one_of(singles(), blanks()), st.sampled_from(list(RULES)))
def test_no_transformation_loses_the_gold_or_leaves_a_defect(before, name):
    rule = RULES[name]
    for after in rule.make(before):
        assert rule.undo(before, after)
        assert defects(after) == []
        assert set(right_texts(before)) >= set(right_texts(after)) or name in (
            "negate",
            "choose_elements",
        )


@given(singles(), st.sampled_from(["choose_elements", "negate"]))
def test_options_stay_between_two_and_thirteen_and_several_are_right(before, name):
    for after in RULES[name].make(before):
        _, options = split_options(after.specific)
        assert 2 <= len(options) <= 13
        assert 2 <= len(after.answer) < len(options) + 1
        assert set(after.answer) <= set(ascii_uppercase[: len(options)])


@given(st.one_of(singles(), blanks()))
def test_there_are_as_many_blanks_as_gold_lines(before):
    for name in ("split_blanks", "to_blank"):
        for after in RULES[name].make(before):
            assert after.text.count(MASK) == len(blanks_in(after.answer)) > 0


@given(blanks())
def test_splitting_asks_for_every_gold_at_least_once(before):
    made = split_blanks(before)
    if made:
        asked = {gold for after in made for gold in blanks_in(after.answer)}
        assert asked == set(blanks_in(before.answer))


def right_texts(one):
    if one.type == "FB":
        return blanks_in(one.answer)
    _, options = split_options(one.specific)
    return [options[ascii_uppercase.index(letter)] for letter in one.answer]


DISTILL = {"name": "distill", "words": "邓小平的", "instead": "一幅"}
DEEPEN = {"name": "deepen", "words": "78", "instead": "最右侧叶子节点对应的关键字"}


def test_example_4_distillation_takes_a_name_out():
    before = item(type="OP", specific="封面上刊登了邓小平的肖像。寓意是什么？", answer="开放")
    (row,) = transformations([before], {"gzsx_1_0": DISTILL}, 0.0, 0)
    assert (row.specific, row.answer, row.fault) == (
        "封面上刊登了一幅肖像。寓意是什么？",
        "开放",
        "",
    )


def test_example_6_deepening_names_a_value_by_its_property():
    before = item(type="FB", specific="删除关键字78得到新B-树，其关键字是[MASK]", answer="56")
    (row,) = transformations([before], {"gzsx_1_0": DEEPEN}, 0.0, 0)
    assert row.specific == "删除关键字最右侧叶子节点对应的关键字得到新B-树，其关键字是[MASK]"


@pytest.mark.parametrize(
    ("wish", "fault"),
    [
        pytest.param(DEEPEN, "'78' does not stand there exactly once", id="not there"),
        pytest.param({"name": "negate"}, "it does not apply here", id="a rule that cannot"),
        pytest.param({"name": "translate"}, "no such transformation", id="an unknown one"),
        pytest.param(
            {"name": "distill", "words": "1+1", "instead": "1+1+0"}, "undoing", id="not gone"
        ),
        pytest.param(
            {"name": "distill", "words": "[MASK]", "instead": ""}, "no [MASK]", id="blank lost"
        ),
    ],
)
def test_what_cannot_be_done_is_told_and_the_item_stays(wish, fault):
    rows = transformations([item()], {"gzsx_1_0": wish}, 0.0, 0)
    assert fault in rows[0].fault
    assert apply([item()], rows) == [item()]


def test_an_item_is_split_whole_or_not_at_all():
    before = item(type="FB", specific="生成[MASK]和[MASK]", answer="氢\n氧")
    rows = transformations([before], {}, 0.0, 0)
    assert [one.answer for one in apply([before], rows)] == ["氧", "氢"]
    spoilt = [rows[0], replace(rows[1], fault="x")]
    assert apply([before], spoilt) == [before]


def test_the_share_is_drawn_by_item_and_seed():
    items = [
        single("它的名称是[MASK]", "甲甲", "乙乙", "丙丙", item_id=f"x_{n}") for n in range(400)
    ]
    rows = transformations(items, {}, 0.5, 7)
    assert rows == transformations(items, {}, 0.5, 7)
    assert 150 < len(rows) < 250
    assert {row.name for row in rows} == {"negate", "to_blank"}
    assert transformations(items, {}, 0.0, 7) == []


def test_a_models_proposal_is_read_only_in_the_form_asked_for():
    assert MASK in str(proposal_prompt(item()).turns[0].parts[0])
    assert read_proposal("改写：deepen\n原文：78\n改为：最大的关键字") == {
        "name": "deepen",
        "words": "78",
        "instead": "最大的关键字",
    }
    assert read_proposal("我建议改写为……") == {}
