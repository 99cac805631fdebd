"""Transformations: which are proven, which wait for review, and what is refused.

``transformed_problems.json`` (the rules' golds) and ``transformation_traps.json`` (``right`` is
null where the new question has no single right answer) were answered by hand before any rule ran.
"""

import json
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_assets.suites.multi.construction.decisions import Annotation, apply_reviews
from bench_assets.suites.multi.construction.item_checks import MASK, defects
from bench_assets.suites.multi.construction.question_transforms import (
    choose_elements,
    format_question,
    negate,
    proof_of_split,
    split_blanks,
    to_blank,
)
from bench_assets.suites.multi.construction.transformations import (
    FOR_REVIEW,
    RULES,
    SolverAnswer,
    apply_transformations,
    confirm,
    proposal_prompt,
    propose,
    read_proposal,
    select_unproven,
    shares,
)
from bench_assets.suites.multi.dataset.questions import gold_blanks, split_options
from tests.suites.multi.rows import item

HERE = Path(__file__)
ROWS = json.loads(HERE.with_name("transformed_problems.json").read_text("utf-8"))
TRAPS = json.loads(HERE.with_name("transformation_traps.json").read_text("utf-8"))
UNSURE = f"{FOR_REVIEW}no rule proves the new gold"


def single(stem, *options, answer="B", **fields):
    return item(specific=format_question(stem, options), answer=answer, **fields)


def problem(row):
    text = format_question(row["text"], row["options"]) if row["options"] else row["text"]
    return item(type=row["type"], specific=text, answer=row["answer"])


def right(one):
    if one.type not in ("SA", "MA"):
        return list(gold_blanks(one.answer))
    _, options = split_options(one.specific)
    return [options[ascii_uppercase.index(letter)] for letter in one.answer]


def applied(row):
    """The golds that a rule alone puts into the edition; None if it leaves the item alone."""
    before, rule = problem(row), RULES[row["rule"]]
    made = rule.make(before)
    if not made or not rule.proof(before) or any(not rule.undo(before, one) for one in made):
        return None
    return [right(one) for one in made]


@pytest.mark.parametrize("row", [pytest.param(row, id=row["text"][:40]) for row in ROWS])
def test_the_gold_of_a_proposal_is_what_a_person_answers(row):
    assert [right(one) for one in RULES[row["rule"]].make(problem(row))] == row["right"]


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=f"{row['text'][:40]} {n}") for n, row in enumerate(TRAPS)]
)
def test_no_gold_is_applied_but_the_one_a_person_answers(row):
    assert applied(row) in (None, row["right"])


def test_of_all_problems_answered_by_hand_no_wrong_gold_is_applied():
    assert len(TRAPS) >= 60
    golds = [(applied(row), row["right"]) for row in [*ROWS, *TRAPS]]
    assert [pair for pair in golds if pair[0] not in (None, pair[1])] == []
    assert sum(gold is not None for gold, _ in golds) >= 44, "the whitelist is of use"


@pytest.mark.parametrize(
    ("make", "before", "text", "answer"),
    [
        pytest.param(
            choose_elements,
            single("调换的孩子是[MASK]", "1和3", "2和3", "2和4", "1和5", answer="C"),
            "调换的孩子是[MASK]\nA. 1\nB. 2\nC. 3\nD. 4\nE. 5",
            "BD",
            id="Figure 6 (1)",
        ),
        pytest.param(
            negate,
            single("其原因是[MASK]", "甲", "乙", "丙", "丁", answer="C"),
            "其原因不是[MASK]\nA. 甲\nB. 乙\nC. 丙\nD. 丁",
            "ABD",
            id="Figure 6 (2)",
        ),
        pytest.param(
            choose_elements,
            single(
                "DNA数目为体细胞两倍的时期是[MASK]\n①间期 ②前期 ③中期 ④后期 ⑤末期",
                *("①②③", "②③④", "②③⑤", "①③⑤"),
            ),
            "DNA数目为体细胞两倍的时期是[MASK]\nA. 间期\nB. 前期\nC. 中期\nD. 后期\nE. 末期",
            "BCD",
            id="Figure 6 (3)",
        ),
        pytest.param(
            choose_elements,
            single("有①甲；②乙；③丙，其中对的是[MASK]", "①②", "②③", answer="A"),
            "有①甲；②乙；③丙，其中对的是[MASK]\nA. ①\nB. ②\nC. ③",
            "AB",
            id="statements before the blank",
        ),
        pytest.param(
            choose_elements,
            single("对的是[MASK]\n①甲 ②乙 ③丙。\n注意单位", "①②", "②③", answer="A"),
            "对的是[MASK]\n①甲 ②乙 ③丙。\n注意单位\nA. ①\nB. ②\nC. ③",
            "AB",
            id="more than statements after it",
        ),
        pytest.param(
            to_blank,
            single("水的化学式是[MASK]", "HO", "H2O", "O2"),
            "水的化学式是[MASK]",
            "H2O",
            id="a blank",
        ),
    ],
)
def test_a_rule_proposes(make, before, text, answer):
    (after,) = make(before)
    assert (after.specific, after.answer) == (text, answer)
    assert after.type == ("FB" if make is to_blank else "MA")


def test_parallel_blanks_become_questions_of_their_own():
    """Figure 6 (5), the other blank given in its place."""
    before = item(
        type="FB", specific="酶能催化[MASK]水解为[MASK]和[MASK]。", answer="蔗糖\n果糖\n葡萄糖"
    )
    first, second = split_blanks(before)
    assert (first.specific, first.answer) == ("酶能催化[MASK]水解为[MASK]和葡萄糖。", "蔗糖\n果糖")
    assert (second.specific, second.answer) == ("酶能催化蔗糖水解为果糖和[MASK]。", "葡萄糖")
    assert (first.item_id, second.item_id) == ("gzsx_1_0a", "gzsx_1_0b")


@pytest.mark.parametrize(
    ("make", "before"),
    [
        pytest.param(choose_elements, single("选[MASK]", "甲", "乙"), id="nothing is combined"),
        pytest.param(choose_elements, single("得[MASK]", "10", "20", "30"), id="plain numbers"),
        pytest.param(choose_elements, single("选[MASK]", "①②", "③"), id="one element is right"),
        pytest.param(choose_elements, single("选[MASK]", "①②", "②①", answer="A"), id="orders"),
        pytest.param(choose_elements, single("共[MASK]", "1,200", "2,400"), id="thousands"),
        pytest.param(choose_elements, single("是[MASK]", "3,4,5", "1,2,3"), id="triples"),
        pytest.param(negate, single("不对的是[MASK]", "甲", "乙", "丙"), id="negated already"),
        pytest.param(negate, single("是[MASK]", "甲", "乙"), id="one option would be left"),
        pytest.param(negate, single("求[MASK]", "甲", "乙", "丙"), id="nothing to negate"),
        *(
            pytest.param(negate, single("原因是[MASK]", "甲", "乙", of), id=of)
            for of in (
                *("以上都是", "以上都不是", "A和B", "All of the above", "其他都对"),
                *("前两项", "两者皆是", "上述各项"),
            )
        ),
        *(
            pytest.param(negate, single(f"它{word}是[MASK]", "甲", "乙", "丙"), id=f"{word}是")
            for word in (
                *("可能", "一定", "必然", "必须", "应", "应该", "至少", "只", "仅", "通常", "往往"),
                *("于", "还", "但", "凡", "都", "也", "就", "像", "要"),
            )
        ),
        pytest.param(
            split_blanks, item(type="FB", specific="[MASK]得[MASK]", answer="甲\n乙"), id="apart"
        ),
        pytest.param(
            split_blanks, item(type="FB", specific="[MASK]和[MASK]", answer="甲"), id="a gold lacks"
        ),
        pytest.param(to_blank, single("下列正确的是[MASK]", "甲甲", "乙乙"), id="needs options"),
        pytest.param(to_blank, single("是[MASK]", "甲", "很长" * 9), id="a long text"),
        pytest.param(to_blank, single("是[MASK]", "甲", "乙或丙"), id="two answers"),
        pytest.param(to_blank, single("是[MASK]", "[IMAGE_1]", "[IMAGE_2]"), id="images"),
        pytest.param(to_blank, single("约为[MASK]", "3", "以上都是"), id="all of these"),
    ],
)
def test_where_a_rule_does_not_apply_nothing_is_proposed(make, before):
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
        assert name in ("negate", "choose_elements") or set(right(before)) >= set(right(after))
        if after.type == "FB":
            assert after.text.count(MASK) == len(gold_blanks(after.answer)) > 0
        else:
            _, options = split_options(after.specific)
            assert 2 <= len(options) <= 13
            assert 2 <= len(after.answer) <= len(options)


@given(blanks())
def test_splitting_asks_for_every_gold_at_least_once(before):
    if made := split_blanks(before):
        assert {gold for after in made for gold in right(after)} == set(right(before))


DISTILL = {"name": "distill", "words": "邓小平的", "instead": "一幅"}
DEEPEN = {"name": "deepen", "words": "78", "instead": "最右侧叶子节点对应的关键字"}


@pytest.mark.parametrize(
    ("before", "request_", "text"),
    [
        pytest.param(
            item(type="OP", specific="封面上刊登了邓小平的肖像。寓意是什么？", answer="开放"),
            DISTILL,
            "封面上刊登了一幅肖像。寓意是什么？",
            id="Figure 6 (4)",
        ),
        pytest.param(
            item(type="FB", specific="删除关键字78得到新B-树，其关键字是[MASK]", answer="56"),
            DEEPEN,
            "删除关键字最右侧叶子节点对应的关键字得到新B-树，其关键字是[MASK]",
            id="Figure 6 (6)",
        ),
    ],
)
def test_a_rewrite_replaces_words_that_an_annotator_names(before, request_, text):
    (row,) = propose([before], {"gzsx_1_0": request_}, 0.0, 0)
    assert (row.specific, row.proof, row.fault) == (text, "annotator", "")


POET = single("《静夜思》的作者字[MASK]\n[IMAGE_1]", "李白", "杜甫", answer="A", images=("a.png",))


@pytest.mark.parametrize(
    ("before", "words", "instead", "fault"),
    [
        pytest.param(POET, "《静夜思》的作者", "李白", "leaks the answer", id="the name"),
        pytest.param(POET, "《静夜思》的作者", "诗仙李 白", "leaks the answer", id="spaced"),
        pytest.param(POET, "作者", "诗人（选A）", "leaks the answer", id="a letter"),
        pytest.param(POET, "作者", "诗人，A项", "leaks the answer", id="a letter's option"),
        pytest.param(POET, "作者", "诗人，答案见下", "leaks the answer", id="the word answer"),
        pytest.param(POET, "李白", "太白", "changes the options", id="the right option"),
        pytest.param(POET, "杜甫", "子美", "changes the options", id="a wrong option"),
        pytest.param(POET, "\n[IMAGE_1]", "", "changes the images", id="an image mark lost"),
        pytest.param(POET, "作者", "[IMAGE_1]作者", "changes the images", id="an image doubled"),
        pytest.param(POET, "[MASK]", "是", "changes the images or blanks", id="a blank lost"),
        pytest.param(
            item(type="FB", specific="1776年的事件是[MASK]", answer="美国独立战争"),
            "1776年", "独立战争", "leaks the answer", id="a part of the answer",
        ),
        pytest.param(
            item(type="FB", specific="甲的值是[MASK]", answer="６０"),
            "甲", "$60$", "leaks the answer", id="other signs",
        ),
        pytest.param(
            item(type="OP", specific="这位诗人的代表作？", answer="李白；《静夜思》"),
            "这位诗人", "李白", "leaks the answer", id="one of several",
        ),
        pytest.param(POET, "作者", "作者甲", "undoing", id="words not gone"),
    ],
)  # fmt: skip
def test_a_rewrite_that_leaks_or_changes_more_than_the_stem_is_faulty(
    before, words, instead, fault
):
    wish = {"name": "deepen", "words": words, "instead": instead}
    for by in ("annotator", "a model"):
        (row,) = propose([before], {"gzsx_1_0": wish}, 0.0, 0, by=by)
        assert fault in row.fault
        assert not row.fault.startswith(FOR_REVIEW)
        assert apply_transformations([before], [row]) == [before]


def test_a_sound_rewrite_by_a_model_waits_for_review():
    wish = {"name": "deepen", "words": "《静夜思》", "instead": "那首望月思乡的五言诗"}
    (row,) = propose([POET], {"gzsx_1_0": wish}, 0.0, 0, by="a model")
    assert (row.proof, row.fault) == ("", UNSURE)


@pytest.mark.parametrize(
    ("wish", "fault"),
    [
        pytest.param(DEEPEN, "'78' does not occur exactly once", id="not there"),
        pytest.param({"name": "negate"}, "it does not apply here", id="a rule that cannot"),
        pytest.param({"name": "translate"}, "no such transformation", id="an unknown one"),
    ],
)
def test_a_request_that_cannot_be_met_is_faulty_and_the_item_stays(wish, fault):
    rows = propose([item()], {"gzsx_1_0": wish}, 0.0, 0)
    assert fault in rows[0].fault
    assert apply_transformations([item()], rows) == [item()]


SPLIT = item(type="FB", specific="得到[MASK]和[MASK]", answer="氢或H\n氧或O")


def proposals(before):
    return propose([before], {}, 1.0, 3)


def answers(rows, agrees, solvers=("x", "y")):
    return [
        SolverAnswer(new_id=row.new_id, name=row.name, solver=one, answer="", agrees=agrees)
        for row in rows
        for one in solvers
    ]


def test_what_no_rule_proves_waits_for_review_and_is_counted():
    proven = item(type="FB", specific="[MASK]和[MASK]相加得3", answer="1\n2")
    rows = [*proposals(SPLIT), *proposals(proven)]
    assert [row.fault for row in rows] == [UNSURE, UNSURE, "", ""]
    assert apply_transformations([SPLIT], rows[:2]) == [SPLIT]
    counted = shares(rows)
    assert (counted["for review"], counted["share for review"]) == (2, 0.5)
    assert counted["proven by rule"] == 2


@pytest.mark.parametrize(
    ("said", "solvers", "proof"),
    [
        pytest.param({"x": True, "y": True}, ("x", "y"), "solvers: x, y", id="both agree"),
        pytest.param({"x": True, "y": False}, ("x", "y"), "", id="one does not"),
        pytest.param({"x": True}, ("x", "y"), "", id="one has not answered"),
        pytest.param({"x": True}, ("x",), "", id="one solver is not enough"),
        pytest.param({}, (), "", id="no solvers"),
    ],
)
def test_two_solvers_have_to_find_the_new_gold(said, solvers, proof):
    rows = proposals(SPLIT)
    found = [one for solver, agrees in said.items() for one in answers(rows, agrees, [solver])]
    decided = confirm(rows, found, solvers)
    assert {row.proof for row in decided} == {proof}
    assert len(select_unproven(decided)) == (0 if proof else 2)


def test_solvers_confirm_all_parts_of_a_split_item_or_none():
    first, second = rows = proposals(SPLIT)
    found = answers([first], agrees=True) + answers([second], agrees=False)
    assert confirm(rows, found, ("x", "y")) == rows


def reviewed(transform=None, changes=None):
    return Annotation(
        item_id="gzsx_1_0",
        round=2,
        annotator="ana",
        transform=transform or {},
        changes=changes or {},
    )


@pytest.mark.parametrize(
    ("review", "names", "proof"),
    [
        pytest.param(None, ["split_blanks", "split_blanks"], "", id="nobody looked"),
        pytest.param(
            {"transform": {"name": "accept"}}, ["split_blanks"] * 2, "annotator", id="accepted"
        ),
        pytest.param(
            {"changes": {"specific": "得[MASK]", "answer": "水"}},
            ["by hand"],
            "annotator",
            id="written anew",
        ),
        pytest.param(
            {"transform": {"name": "distill", "words": "得到", "instead": "得"}},
            ["distill"],
            "annotator",
            id="another one",
        ),
    ],
)
def test_a_review_decides_about_a_proposal(review, names, proof):
    rows = apply_reviews([SPLIT], proposals(SPLIT), [reviewed(**review)] if review else [])
    assert [row.name for row in rows] == names
    assert {row.proof for row in rows} == {proof}


def test_a_review_cannot_accept_a_faulty_proposal():
    broken = [replace(row, fault="x") for row in proposals(SPLIT)]
    assert apply_reviews([SPLIT], broken, [reviewed({"name": "accept"})]) == broken


def test_an_item_is_split_whole_or_not_at_all():
    before = item(type="FB", specific="[MASK]和[MASK]相加得7", answer="4\n3")
    rows = propose([before], {}, 0.0, 0)
    assert [one.answer for one in apply_transformations([before], rows)] == ["4", "3"]
    assert apply_transformations([before], [rows[0], replace(rows[1], fault="x")]) == [before]


def test_a_key_without_a_value_proves_nothing():
    assert proof_of_split(item(type="FB", specific="[MASK]和[MASK]都对", answer="")) == ""
    assert proof_of_split(item(type="FB", specific="[MASK]和[MASK]相加得7", answer="4\n3")) != ""


def test_of_two_rules_the_proven_one_is_proposed():
    before = single("12-5的值是[MASK]", "2.5", "7", "7.0")  # "不是" would have one right option
    rows = [propose([before], {}, 1.0, seed)[0] for seed in range(8)]
    assert {(row.name, row.proof) for row in rows} == {("to_blank", "arithmetic")}


def test_the_share_is_drawn_by_item_and_seed():
    items = [
        single("它的名称是[MASK]", "甲甲", "乙乙", "丙丙", item_id=f"x_{n}") for n in range(400)
    ]
    rows = propose(items, {}, 0.5, 7)
    assert rows == propose(items, {}, 0.5, 7)
    assert 150 < len(rows) < 250
    assert {row.name for row in rows} == {"negate", "to_blank"}
    assert propose(items, {}, 0.0, 7) == []


def test_a_models_proposal_is_read_only_in_the_form_asked_for():
    assert MASK in str(proposal_prompt(item()).turns[0].parts[0])
    assert read_proposal("改写：deepen\n原文：78\n改为：最大的关键字") == {
        "name": "deepen",
        "words": "78",
        "instead": "最大的关键字",
    }
    assert read_proposal("我建议改写为……") == {}
