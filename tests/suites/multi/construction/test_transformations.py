"""Transformations: proposals of rules, proofs by their form, and decisions of solvers.

``transformed_problems.json`` (the rules' golds) and ``transformation_traps.json`` (``right`` is
null where the new question has no single right answer) were answered by hand before any rule ran.
"""

import json
from dataclasses import replace
from itertools import zip_longest
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
ERROR_RATES = {"x": 0.05, "y": 0.10}  # of two solvers


def single_choice(stem, *options, answer="B", **fields):
    return item(specific=format_question(stem, options), answer=answer, **fields)


def problem(row):
    text = format_question(row["text"], row["options"]) if row["options"] else row["text"]
    return item(type=row["type"], specific=text, answer=row["answer"])


def gold_texts(item):
    """The texts of the right options or of the blanks."""
    if item.type not in ("SA", "MA"):
        return list(gold_blanks(item.answer))
    _, options = split_options(item.specific)
    return [options[ascii_uppercase.index(letter)] for letter in item.answer]


@pytest.mark.parametrize("row", [pytest.param(row, id=row["text"][:40]) for row in ROWS])
def test_the_gold_of_a_proposal_is_what_a_person_answers(row):
    items = RULES[row["rule"]](problem(row))
    assert [gold_texts(item) for item in items] in ([], row["right"])
    assert [defect for item in items for defect in defects(item)] == []


def judge_keys(rows):
    """Whether the key of each transformed item is the person's answer, by id of the proposal."""
    is_right = {}
    for row_index, row in enumerate(rows):
        before = replace(problem(row), item_id=f"x_{row_index}")
        for after, gold in zip_longest(RULES[row["rule"]](before), row["right"] or []):
            if after:
                is_right[f"{after.item_id}/{row['rule']}"] = gold == gold_texts(after)
    return is_right


def decide_by_solvers(rows, rng):
    """Decide on transformed items by solvers that answer as the person did, but for some errors.

    Half of a solver's errors repeat the key.
    """
    items = [replace(problem(row), item_id=f"x_{n}") for n, row in enumerate(rows)]
    rules = {item.item_id: {"name": row["rule"]} for item, row in zip(items, rows, strict=True)}
    proposals = key_proposals(propose(items, rules, share=0.0, seed=0, by="a rule"), items, [])
    keys = {proposal.id: proposal.key.replace("\n", "; ") for (proposal,) in proposals}
    is_right = judge_keys(rows)

    def ask(solver, requests):
        responses = []
        for request in requests:
            errs = rng.random() < ERROR_RATES[solver]
            finds_key = rng.random() < 0.5 if errs else is_right[request.name]
            answer = keys[request.name] if finds_key else "none"
            responses.append(Response(text=f"#### {answer}"))
        return responses

    return TRANSFORMED.vote(proposals, tuple(ERROR_RATES), ask)


def test_the_form_proves_no_elements_that_a_person_answers_otherwise():
    misproven = []
    for row in (*ROWS, *TRAPS):
        if row["rule"] == "choose_elements" and proof_of_elements(problem(row)):
            golds = [gold_texts(item) for item in choose_elements(problem(row))]
            if golds != row["right"]:
                misproven.append(row["text"])
    assert misproven == []


def test_at_most_one_percent_of_decisions_of_solvers_accept_a_wrong_key():
    """Over all problems that were answered by hand and ten seeds."""
    rows = [*ROWS, *TRAPS]
    is_right = judge_keys(rows)
    shares = []
    for seed in range(10):
        decisions = decide_by_solvers(rows, Random(seed))
        accepted = [is_right[row.id] for row in decisions if row.decision == "accepted"]
        assert accepted.count(True) > 40  # so that accepting nothing does not pass
        shares.append(accepted.count(False) / len(decisions))
    assert sum(shares) / len(shares) <= 0.01


@pytest.mark.parametrize(
    ("make", "before", "type_", "text", "answer"),
    [
        pytest.param(
            choose_elements,
            single_choice("调换的孩子是[MASK]", "1和3", "2和3", "2和4", "1和5", answer="C"),
            "MA",
            "调换的孩子是[MASK]\nA. 1\nB. 2\nC. 3\nD. 4\nE. 5",
            "BD",
            id="Figure 6 (1)",
        ),
        pytest.param(
            negate,
            single_choice("下列说法正 确的是[MASK]", "甲", "乙", "丙", "丁", answer="C"),
            "MA",
            "下列说法错误的是[MASK]\nA. 甲\nB. 乙\nC. 丙\nD. 丁",
            "ABD",
            id="Figure 6 (2)",
        ),
        pytest.param(
            choose_elements,
            single_choice(
                "DNA数目为体细胞两倍的时期是[MASK]\n①间期 ②前期 ③中期 ④后期 ⑤末期",
                *("①②③", "②③④", "②③⑤", "①③⑤"),
            ),
            "MA",
            "DNA数目为体细胞两倍的时期是[MASK]\nA. 间期\nB. 前期\nC. 中期\nD. 后期\nE. 末期",
            "BCD",
            id="Figure 6 (3)",
        ),
        pytest.param(
            to_blank,
            single_choice("水的化学式是[MASK]", "HO", "H2O", "O2"),
            "FB",
            "水的化学式是[MASK]",
            "H2O",
            id="a blank",
        ),
    ],
)
def test_a_rule_transforms_an_item(make, before, type_, text, answer):
    (after,) = make(before)
    assert (after.type, after.specific, after.answer) == (type_, text, answer)


@pytest.mark.parametrize(("make", "fields"), read_cases(__file__, "refused_transformations.jsonl"))
def test_a_rule_that_does_not_apply_proposes_nothing(make, fields):
    assert getattr(question_transforms, make)(item(**fields)) == []


DEEPEN = {"name": "deepen", "words": "78", "instead": "最右侧叶子节点对应的关键字"}


@pytest.mark.parametrize(
    ("fields", "words", "instead", "fault"),
    read_cases(__file__, "faulty_rewrites.jsonl", tuples=True),
)
@pytest.mark.parametrize("by", ["annotator", "a model"])
def test_a_rewrite_that_leaks_or_changes_more_than_the_stem_is_faulty(
    fields, words, instead, fault, by
):
    before = item(**fields)
    request = {"name": "deepen", "words": words, "instead": instead}
    (row,) = propose([before], {"gzsx_1_0": request}, share=0.0, seed=0, by=by)
    assert fault in row.fault
    assert key_proposals([row], [before], []) == []
    assert apply_transformations([before], [row]) == [before]


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        pytest.param(DEEPEN, "'78' does not occur exactly once", id="not there"),
        pytest.param({"name": "negate"}, "it does not apply here", id="a rule that cannot"),
        pytest.param({"name": "translate"}, "no such transformation", id="an unknown one"),
    ],
)
def test_a_request_that_cannot_be_met_is_faulty_and_the_item_stays(fields, fault):
    rows = propose([item()], {"gzsx_1_0": fields}, share=0.0, seed=0)
    assert fault in rows[0].fault
    assert apply_transformations([item()], rows) == [item()]


SPLIT = item(type="FB", specific="得到[MASK]和[MASK]", answer="氢或H\n氧或O")
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
        pytest.param(single_choice(CLAIMS, "①③", "①②", "③④"), "", id="no option adds ④ alone"),
        pytest.param(
            single_choice(CLAIMS, "①③", "①②", "③④", answer="A"),
            "one option is right",
            id="by the options",
        ),
        pytest.param(
            single_choice("互为同位素的是[MASK]\n①氕 ②氦 ③氘 ④锂", "①③", "①②", "③④", answer="A"),
            "",
            id="names, which may be a pair",
        ),
        pytest.param(
            single_choice(CLAIMS, "①③", "②④", answer="A"), "", id="② and ④ are wrong together"
        ),
    ],
)
def test_the_one_right_option_proves_statements(before, proof):
    assert proof_of_elements(before) == proof


def decide(rows, items, **answers):
    """Decide the keys of transformations by solvers with these answers."""

    def ask(solver, requests):
        return [Response(text=f"#### {answers[solver]}") for _ in requests]

    return TRANSFORMED.vote(key_proposals(rows, items, []), tuple(answers), ask)


def test_a_transformation_whose_key_the_solvers_find_is_applied():
    before = single_choice("它的值是[MASK]", "1.5", "$H_2O$", answer="B")
    rows = propose([before], {"gzsx_1_0": {"name": "to_blank"}}, share=0.0, seed=0, by="a rule")
    settled = mark_rejected_keys(rows, decide(rows, [before], x="$H_2O$", y="H₂O"))
    assert [row.fault for row in settled] == [""]
    (after,) = apply_transformations([before], settled)
    assert after.type == "FB"


def test_a_transformation_without_proof_or_solvers_is_open():
    rows = propose([SPLIT], {}, share=1.0, seed=3)
    settled = mark_rejected_keys(rows, decide(rows, [SPLIT]))
    assert {row.fault for row in settled} == {"open: no rule proves it"}


def test_the_share_of_transformed_items_is_drawn_by_item_and_seed():
    items = [
        single_choice(stem, "1", "22", "333", item_id=f"x_{n}_{stem}")
        for n in range(200)
        for stem in ("它的值是[MASK]", "值正确的是[MASK]")
    ]
    rows = propose(items, {}, share=0.5, seed=7)
    assert rows == propose(items, {}, share=0.5, seed=7)
    assert rows != propose(items, {}, share=0.5, seed=8)
    assert 150 < len(rows) < 250  # half of 400 items is 200
    assert {row.name for row in rows} == {"negate", "to_blank"}
    assert propose(items, {}, share=0.0, seed=7) == []
