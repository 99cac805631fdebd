"""What three scorers make of the same responses; expected points by hand, from BENCHMARKS 2.3.

Each line: type, gold, response, points by the scorers careful, paper, current and current_end.
"""

from dataclasses import replace

import pytest

from bench_assets.suites.multi.readers import half_width, says_image_is_missing
from bench_assets.suites.multi.task import TASK
from tests.suites.multi.rows import answered

SCORERS = ("careful", "paper", "current", "current_end")

SA = [
    ("a bare letter", "B", "B", 1, 1, 1, 1),
    ("a wrong letter", "B", "C", 0, 0, 0, 0),
    ("nothing", "B", "", 0, 0, 0, 0),
    ("a small letter is a letter only today", "B", "b", 1, 0, 1, 1),
    ("a sentence in English begins with a letter", "B", "The answer is B", 1, 0, 0, 1),
    ("the option's text ends with a letter", "B", "B. banana", 1, 1, 1, 0),
    ("a letter with a full stop", "B", "B.", 1, 1, 1, 1),
    ("a letter with a Chinese full stop", "B", "B。", 1, 1, 1, 1),
    ("a letter in brackets", "B", "(B)", 1, 1, 1, 1),
    ("a letter in bold", "B", "**B**", 1, 1, 1, 1),
    ("a full-width letter", "B", "Ｂ", 1, 0, 0, 0),
    ("a Chinese statement", "B", "答案是B", 1, 1, 1, 1),
    ("a Chinese statement with a colon", "B", "答案：B", 1, 1, 1, 1),
    ("a statement after reasoning about another option", "B", "A不对，所以选B。", 1, 0, 0, 1),
    ("a statement with the option's text", "B", "应选B. 停车", 1, 1, 1, 1),
    ("two letters commit to neither", "B", "A或B", 0, 0, 0, 1),
    ("a stated choice of two commits to neither", "B", "答案是A或B", 0, 0, 0, 1),
    ("two letters where one is wanted", "B", "BC", 0, 1, 1, 0),
    ("a boxed letter: the b of boxed comes first", "C", r"所以 \boxed{C}", 1, 0, 0, 1),
    ("a boxed text", "B", r"由 A 得 \boxed{\text{B}}", 1, 0, 1, 1),
    ("reasoning and a last line", "B", "由图可知A点电势高。\nB", 1, 0, 0, 1),
    ("reasoning, a blank line and the answer", "B", "考虑A与C。\n\nB", 1, 0, 1, 1),
    ("the answer, a blank line and an explanation", "B", "B\n\n因为A不对。", 1, 1, 0, 0),
    ("a page's thought mark", "B", "Thought，持续 12 秒\nB", 1, 0, 1, 1),
    ("thought aloud", "B", "A? C?</think>B", 0, 0, 1, 1),
    ("announced in full", "B", "题中A错。答案为：B", 1, 0, 1, 1),
    ("the role's name", "B", "Assistant: B", 1, 0, 1, 1),
    ("a denied option is not chosen", "A", "不是A", 0, 1, 1, 1),
    ("the answer is said to be another", "A", "答案不是A", 0, 1, 1, 1),
    ("words without a letter", "B", "我不知道", 0, 0, 0, 0),
    ("a refusal", "B", "缺少图片信息", 0, 0, 0, 0),
    ("a refusal with a guess is a refusal", "B", "缺少图片信息，猜B", 0, 1, 0, 0),
    ("a refusal in English", "B", "Lack of image information", 0, 0, 0, 0),
    ("an English sentence about oneself", "B", "I think it is B", 1, 0, 0, 1),
    ("a letter that was not offered", "B", "E", 0, 0, 0, 0),
    ("the answer, then why another is wrong", "C", "C\n解析：A选项错误。", 1, 1, 1, 0),
    ("the word option before the letter", "C", "A排除，所以答案是选项C", 1, 0, 0, 1),
    ("what should be chosen", "D", "我认为正确答案应该是D，而不是A。", 1, 1, 1, 0),
    ("bold all around", "B", "**答案：B**", 1, 1, 1, 1),
    ("LaTeX around the letter", "B", "$B$", 1, 1, 1, 1),
]
MA = [
    ("all right ones", "AC", "AC", 2, 2, 2, 2),
    ("one of two", "AC", "A", 1, 1, 1, 1),
    ("one too many", "AC", "ABC", 0, 0, 0, 0),
    ("another order", "AC", "CA", 2, 2, 2, 2),
    ("a letter said twice counts once", "AC", "AA", 1, 1, 1, 1),
    ("commas", "AC", "A,C", 2, 2, 2, 2),
    ("commas and blanks", "AC", "A, C", 2, 2, 2, 2),
    ("the Chinese comma of lists ends a run", "AC", "A、C", 2, 1, 1, 1),
    ("the full-width comma ends a run", "AC", "A，C", 2, 1, 1, 1),
    ("and", "AC", "A和C", 2, 1, 1, 1),
    ("an English sentence", "AC", "The answer AC", 0, 0, 0, 0),
    ("a Chinese statement", "AC", "答案：AC", 2, 2, 2, 2),
    ("a Chinese statement with list commas", "BCD", "正确选项是B、C、D。", 3, 1, 1, 1),
    ("small letters", "AC", "a, c", 0, 0, 2, 2),
    ("full-width letters", "AC", "ＡＣ", 2, 0, 0, 0),
    ("nothing", "AC", "", 0, 0, 0, 0),
    ("only a comma, found first", "AC", "，, 选AC", 2, 0, 2, 2),
    ("a blank before Chinese words hides the letters", "AC", "选 项是 AC", 0, 0, 2, 2),
    ("options one a line", "AC", "A. 甲\nC. 丙", 0, 1, 1, 1),
    ("analysis of each option commits to nothing", "AC", "A正确，B错误，C正确", 0, 1, 1, 1),
    ("analysis, then the answer", "AC", "A对，B错误。故选AC。", 2, 1, 1, 2),
    ("boxed", "AC", r"\boxed{AC}", 2, 0, 0, 2),
    ("boxed text", "AC", r"\boxed{\text{AC}}", 2, 0, 2, 2),
    ("or commits to neither", "AC", "答案是A或C", 0, 1, 1, 1),
    ("a wrong one alone", "AC", "B", 0, 0, 0, 0),
    ("semicolons", "ABD", "A;B;D", 3, 1, 1, 1),
    ("the answer, then an explanation", "AC", "AC\n解析：B错误。", 2, 2, 2, 0),
    ("a refusal", "AC", "缺少图片信息", 0, 0, 0, 0),
]
FB = [
    ("the blank", "0.5", "0.5", 1, 1, 1, 1),
    ("a wrong value", "0.5", "0.6", 0, 0, 0, 0),
    ("two blanks, two lines", "0.5\n1", "0.5\n1", 2, 2, 2, 2),
    ("the order counts", "0.5\n1", "1\n0.5", 0, 0, 0, 0),
    ("capitals count", "A", "a", 0, 0, 0, 0),
    ("lines beyond the blanks are free", "A", "A\nB", 0, 1, 1, 1),
    ("a blank between two answers is deleted", "0.5\n1", "0.5 1", 2, 0, 0, 0),
    ("a semicolon between two answers", "0.5\n1", "0.5;1", 2, 0, 2, 2),
    ("a Chinese semicolon", "0.5\n1", "0.5；1", 2, 0, 2, 2),
    ("list commas between two answers", "氢\n氧", "氢、氧", 2, 0, 0, 0),
    ("a list comma inside a single blank", "氢、氧", "氢、氧", 1, 1, 1, 1),
    ("a blank line between two answers", "氢\n氧", "氢\n\n氧", 2, 1, 0, 0),
    ("only one of two", "氢\n氧", "氢", 0, 1, 1, 1),
    ("the second alone", "氢\n氧", "氧", 0, 0, 0, 0),
    ("an alternative", "氢或H", "H", 1, 1, 1, 1),
    ("the other alternative", "氢或H", "氢", 1, 1, 1, 1),
    ("both alternatives as written", "氢或H", "氢或H", 1, 1, 1, 1),
    ("dollars", "x^2", "$x^2$", 1, 0, 1, 1),
    ("dollars in the gold", "$x^2$", "x^2", 1, 0, 1, 1),
    ("blanks inside", "x+1", "x + 1", 1, 0, 1, 1),
    ("blanks around", "x", " x ", 1, 0, 1, 1),
    ("a full stop", "文艺复兴", "文艺复兴。", 1, 0, 0, 0),
    ("announced", "文艺复兴", "答案：文艺复兴", 1, 0, 1, 1),
    ("announced with 为", "文艺复兴", "答案为：文艺复兴", 1, 0, 1, 1),
    ("numbered lines", "氢\n氧", "1. 氢\n2. 氧", 2, 0, 0, 0),
    ("a decimal number is no line number", "1.5\n2.5", "1.5\n2.5", 2, 2, 2, 2),
    ("full-width digits", "10", "１０", 1, 0, 0, 0),
    ("a circled number stays one", "①", "1", 0, 0, 0, 0),
    ("boxed after reasoning", "0.5", r"因为 $1/2$，所以 $\boxed{0.5}$", 1, 0, 0, 0),
    ("each boxed", "氢\n氧", r"\boxed{氢}，\boxed{\text{氧}}", 2, 0, 0, 0),
    ("nothing", "氢", "", 0, 0, 0, 0),
    ("in a sentence", "氢", "是氢", 0, 0, 0, 0),
    ("the sign of a negative number", "-3", "−3", 1, 0, 0, 0),
    ("a dash for a minus", "-3", "–3", 1, 0, 0, 0),
    ("a figure dash for a minus", "-3", "‒3", 1, 0, 0, 0),
    ("a small hyphen for a minus", "-3", "﹣3", 1, 0, 0, 0),
    ("a minus in the gold", "−3", "-3", 1, 0, 0, 0),
    ("a large fraction", r"$\frac{1}{2}$", r"$\dfrac{1}{2}$", 1, 0, 0, 0),
    ("a text fraction of terms", r"\frac{a+b}{2}", r"\tfrac{a+b}{2}", 1, 0, 0, 0),
    ("a fraction with a bar", r"$\frac{1}{2}$", "1/2", 1, 0, 0, 0),
    ("a mixed number is not a fraction", r"$2\frac{1}{2}$", "21/2", 0, 0, 0, 0),
    ("a value is not computed", "1/2", "0.5", 0, 0, 0, 0),
    ("an index below", "H_2O", "H₂O", 1, 0, 0, 0),
    ("an index below, in braces", "$CO_{2}$", "CO₂", 1, 0, 0, 0),
    ("a letter below", "$v_t$", "vₜ", 1, 0, 0, 0),
    ("an index in the gold", "氢气或H2", "H₂", 1, 0, 0, 0),
    ("a power", "x^2", "x²", 1, 0, 0, 0),
    ("a power of two digits", "$10^{12}$", "10¹²", 1, 0, 0, 0),
    ("a negative power", "10^{-3}", "10⁻³", 1, 0, 0, 0),
    ("another power", "x^2", "x³", 0, 0, 0, 0),
    ("a power is no index", "x^2", "x₂", 0, 0, 0, 0),
    ("a charge", "$Na^{+}$", "Na⁺", 1, 0, 0, 0),
    ("the power n", "$2^{n}$", "2ⁿ", 1, 0, 0, 0),
    ("bold", "文艺复兴", "**文艺复兴**", 1, 0, 0, 0),
    ("strong", "文艺复兴", "__文艺复兴__", 1, 0, 0, 0),
    ("code", "O(n)", "`O(n)`", 1, 0, 0, 0),
    ("bold, two blanks", "氢\n氧", "**氢**\n**氧**", 2, 0, 0, 0),
    ("bullets", "氢\n氧", "- 氢\n* 氧", 2, 0, 0, 0),
    ("round bullets", "氢\n氧", "• 氢\n• 氧", 2, 0, 0, 0),
    ("circled numbers", "氢\n氧", "① 氢\n② 氧", 2, 0, 0, 0),
    ("circled numbers in one line", "氢\n氧", "①氢；②氧", 2, 0, 0, 0),
    ("bracketed numbers in one line", "氢\n氧", "（1）氢（2）氧", 2, 0, 0, 0),
    ("circled numbers that are the answers", "②\n①", "②\n①", 2, 2, 2, 2),
    ("circled numbers in the order of a list", "①\n②", "①\n②", 2, 2, 2, 2),
    ("a circled number is not taken off a single answer", "①", "①②", 0, 0, 0, 0),
    ("thousands", "1200", "1,200", 1, 0, 0, 0),
    ("thousands in the gold", "1,200,000", "1200000", 1, 0, 0, 0),
    ("thousands and cents", "1234.5", "1,234.5", 1, 0, 0, 0),
    ("thousands with a unit", "1200 m", "1,200 m", 1, 0, 0, 0),
    ("a pair is no number", "1200", "(1,200)", 0, 0, 0, 0),
    ("two answers are no number", "1\n200", "1,200", 2, 0, 0, 0),
    ("thousands in a list", "1200\n5", "1,200, 5", 2, 0, 0, 0),
    ("three digits after a comma or it is no thousand", "12", "1,2", 0, 0, 0, 0),
    ("a root", r"$\sqrt{2}$", "√2", 1, 0, 0, 0),
    ("a product", r"2\times3", "2×3", 1, 0, 0, 0),
    ("a dot", r"a\cdot b", "a·b", 1, 0, 0, 0),
    ("pi", r"2\pi", "2π", 1, 0, 0, 0),
    ("at most", r"x\le 2", "x≤2", 1, 0, 0, 0),
    ("at least", r"x\geq 2", "x≥2", 1, 0, 0, 0),
    ("degrees", r"60^\circ", "60°", 1, 0, 0, 0),
    ("degrees in braces", r"60^{\circ}", "60°", 1, 0, 0, 0),
    ("per cent", r"30\%", "30%", 1, 0, 0, 0),
    ("brackets that grow", r"\left(1,2\right)", "(1,2)", 1, 0, 0, 0),
    ("thin blanks", r"2\,x", "2x", 1, 0, 0, 0),
    ("words in LaTeX", r"$\mathrm{NaCl}$", "NaCl", 1, 0, 0, 0),
    ("words in a text of LaTeX", r"氧", r"\text{氧}", 1, 0, 0, 0),
    ("announced with 是", "文艺复兴", "答案是文艺复兴", 1, 0, 0, 0),
    ("circled numbers and nothing between", "氢\n氧", "①氢②氧", 2, 0, 0, 0),
    ("four digits after a comma", "12000", "1,2000", 0, 0, 0, 0),
    ("a list of three", "1200,30", "1,200,30", 0, 0, 0, 0),
    ("a box in a box of a box", r"\frac{\sqrt{2}}{2}", r"\boxed{\frac{\sqrt{2}}{2}}", 1, 0, 0, 0),
    ("the role before a blank", "氢", "Assistant: 氢", 1, 0, 1, 1),
    ("the word answer before a blank", "氢", "Answer: 氢", 1, 0, 0, 0),
    ("a boxed fraction", r"$\frac{1}{2}$", r"得 $\boxed{\dfrac{1}{2}}$", 1, 0, 0, 0),
    ("thought aloud before", "0.5", "大概0.4</think>0.5", 0, 0, 1, 1),
    ("a thought cut off", "0.5", "<think>0.5", 0, 0, 0, 0),
    ("the gold of the paper's script is not touched", "x^2 ", "x^2", 1, 0, 1, 1),
    ("a blank before the gold", " 氧", "氧", 1, 0, 1, 1),
]
TABLE = [(kind, *row) for kind, listed in (("SA", SA), ("MA", MA), ("FB", FB)) for row in listed]
THOUGHTS = [  # a response that came with thoughts: the authors' scripts get it whole
    ("SA", "B", "<think>A?</think>B", 1, 0, 1, 1),
    ("SA", "B", "<think>又想</think>B", 1, 0, 1, 1),
    ("MA", "AC", "<think>ABC</think>AC", 2, 0, 2, 2),
    ("FB", "0.5", "<think>0.4</think>0.5", 1, 0, 1, 1),
    ("FB", "0.5", "<think>想</think>\n\n0.5", 1, 0, 1, 1),
]


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("row", [pytest.param(row, id=f"{row[0]}: {row[1]}") for row in TABLE])
def test_points_of_a_response(row, scorer):
    kind, _, gold, response, *points = row
    score = TASK.scorer(scorer)(answered(response, kind, gold), [])
    assert (score.points, score.max_points) == (
        points[SCORERS.index(scorer)],
        {"SA": 1, "MA": len(gold), "FB": gold.count("\n") + 1}[kind],
    )


@pytest.mark.parametrize("row", THOUGHTS, ids=str)
def test_the_authors_scripts_get_what_is_thought_aloud_too(row):
    kind, gold, response, *points = row
    pair = answered(response.rpartition("</think>")[2].strip(), kind, gold)
    pair = pair._replace(prediction=replace(pair.prediction, raw_text=response))
    assert [TASK.scorer(scorer)(pair, []).points for scorer in SCORERS] == points


def test_the_table_has_at_least_eighty_responses():
    assert len({(row[0], row[2], row[3]) for row in TABLE}) >= 80


def test_full_width_writing_and_the_words_of_refusal():
    assert half_width("（Ａ）") == "(A)"
    assert says_image_is_missing("由于缺少图片信息，无法作答")
    assert not says_image_is_missing("图片信息充足")
