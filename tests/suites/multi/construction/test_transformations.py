"""Transformations: what rules propose, what the form proves, what solvers accept and refuse.

``transformed_problems.json`` (the rules' golds) and ``transformation_traps.json`` (``right`` is
null where the new question has no single right answer) were answered by hand before any rule ran.
"""

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from string import ascii_uppercase

import pytest

from bench_assets.core.schema.chat import Response
from bench_assets.suites.multi.construction import question_transforms
from bench_assets.suites.multi.construction.item_checks import defects
from bench_assets.suites.multi.construction.question_transforms import (
    choose_elements,
    format_question,
    negate,
    proof_of_elements,
    to_blank,
)
from bench_assets.suites.multi.construction.transformations import (
    RULES,
    TRANSFORMED,
    apply_transformations,
    key_proposals,
    mark_rejected_keys,
    propose,
)
from bench_assets.suites.multi.dataset.questions import gold_blanks, split_options
from tests.cases import read_cases
from tests.fakes.multi_rows import item

HERE = Path(__file__)
ROWS = json.loads(HERE.with_name("transformed_problems.json").read_text("utf-8"))
TRAPS = json.loads(HERE.with_name("transformation_traps.json").read_text("utf-8"))


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


@pytest.mark.parametrize("row", [pytest.param(row, id=row["text"][:40]) for row in ROWS])
def test_the_gold_of_a_proposal_is_what_a_person_answers(row):
    proposed = RULES[row["rule"]](problem(row))
    assert [right(one) for one in proposed] in ([], row["right"])
    assert [defect for one in proposed for defect in defects(one)] == []


def scripted(rows, rng, mistakes):
    """Solvers that answer as the person did, but for a share of mistakes; half of these the key."""
    truths = {}
    for number, row in enumerate(rows):
        before = replace(problem(row), item_id=f"x_{number}")
        for at, after in enumerate(RULES[row["rule"]](before)):
            golds = row["right"][at] if row["right"] and at < len(row["right"]) else None
            truths[f"{after.item_id}/{row['rule']}"] = golds == right(after)

    def ask(solver, requests):
        answers = []
        for request in requests:
            errs = rng.random() < mistakes[solver]
            finds_key = truths[request.name] != errs or (errs and rng.random() < 0.5)
            answers.append(keys[request.name] if finds_key else "none")
        return [Response(text=f"#### {answer}") for answer in answers]

    items = [replace(problem(row), item_id=f"x_{number}") for number, row in enumerate(rows)]
    requests = {item.item_id: {"name": row["rule"]} for item, row in zip(items, rows, strict=True)}
    proposals = key_proposals(propose(items, requests, 0.0, 0, by="a rule"), items, [])
    keys = {one.id: one.key.replace("\n", "; ") for (one,) in proposals}
    decided = TRANSFORMED.vote(proposals, ("x", "y"), ask)
    return [truths[row.id] for row in decided if row.decision == "accepted"], len(decided)


def test_of_all_problems_answered_by_hand_at_most_one_in_a_hundred_is_wrong():
    """By the form alone, and with solvers of which one errs in 5 %, the other in 10 %."""
    rows = [*ROWS, *TRAPS]
    for row in rows:
        if row["rule"] == "choose_elements" and proof_of_elements(problem(row)):
            assert [right(element) for element in choose_elements(problem(row))] == row["right"]
    shares = []
    for seed in range(10):
        accepted, n = scripted(rows, Random(seed), {"x": 0.05, "y": 0.10})
        shares.append(accepted.count(False) / n)
        assert sum(accepted) > 40, "it is of use"
    assert sum(shares) / len(shares) <= 0.01


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
            single("下列说法正 确的是[MASK]", "甲", "乙", "丙", "丁", answer="C"),
            "下列说法错误的是[MASK]\nA. 甲\nB. 乙\nC. 丙\nD. 丁",
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


@pytest.mark.parametrize(("make", "fields"), read_cases(__file__, "refused_transformations.jsonl"))
def test_where_a_rule_does_not_apply_nothing_is_proposed(make, fields):
    assert getattr(question_transforms, make)(item(**fields)) == []


DEEPEN = {"name": "deepen", "words": "78", "instead": "最右侧叶子节点对应的关键字"}


@pytest.mark.parametrize(
    ("fields", "words", "instead", "fault"),
    read_cases(__file__, "faulty_rewrites.jsonl", tuples=True),
)
def test_a_rewrite_that_leaks_or_changes_more_than_the_stem_is_faulty(
    fields, words, instead, fault
):
    before = item(**fields)
    wish = {"name": "deepen", "words": words, "instead": instead}
    for by in ("annotator", "a model"):
        (row,) = propose([before], {"gzsx_1_0": wish}, 0.0, 0, by=by)
        assert fault in row.fault
        assert key_proposals([row], [before], []) == []
        assert apply_transformations([before], [row]) == [before]


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


LONG = (
    "水是一种常见的化合物",
    "铁是一种常见的非金属",
    "冰融化是一种物理变化",
    "木头燃烧是物理变化",
)
CLAIMS = "下列说法正确的是[MASK]\n" + " ".join(map("{}{}".format, "①②③④", LONG))


@pytest.mark.parametrize(
    ("before", "proof"),
    [
        pytest.param(
            single(CLAIMS, "①③", "①②", "③④"), "", id="no option adds ④ alone"
        ),
        pytest.param(
            single(CLAIMS, "①③", "①②", "③④", answer="A"), "one option is right", id="by the options"
        ),
        pytest.param(
            single("互为同位素的是[MASK]\n①氕 ②氦 ③氘 ④锂", "①③", "①②", "③④", answer="A"), "",
            id="names, which may be a pair",
        ),
        pytest.param(
            single(CLAIMS, "①③", "②④", answer="A"), "", id="② and ④ are wrong together"
        ),
    ],
)  # fmt: skip
def test_the_one_right_option_proves_statements(before, proof):
    assert proof_of_elements(before) == proof


def decided(rows, items, **answers):
    respond = lambda solver, prompts: [Response(text=f"#### {answers[solver]}") for _ in prompts]  # noqa: E731
    return TRANSFORMED.vote(key_proposals(rows, items, []), tuple(answers), respond)


def test_what_the_solvers_find_is_applied():
    before = single("它的值是[MASK]", "1.5", "$H_2O$", answer="B")
    rows = propose([before], {"gzsx_1_0": {"name": "to_blank"}}, 0.0, 0, by="a rule")
    settled = mark_rejected_keys(rows, decided(rows, [before], x="$H_2O$", y="H₂O"))
    assert [row.fault for row in settled] == [""]
    assert [transformation.type for transformation in apply_transformations([before], settled)] == [
        "FB"
    ]


def test_a_transformation_without_a_decision_by_its_form_waits():
    rows = proposals(SPLIT)
    settled = mark_rejected_keys(rows, decided(rows, [SPLIT]))
    assert {row.fault for row in settled} == {"open: no rule proves it"}


def test_the_share_is_drawn_by_item_and_seed():
    items = [
        single(stem, "1", "22", "333", item_id=f"x_{n}_{stem}")
        for n in range(200)
        for stem in ("它的值是[MASK]", "值正确的是[MASK]")
    ]
    rows = propose(items, {}, 0.5, 7)
    assert rows == propose(items, {}, 0.5, 7)
    assert 150 < len(rows) < 250
    assert {row.name for row in rows} == {"negate", "to_blank"}
    assert propose(items, {}, 0.0, 7) == []
