# ruff: noqa: E501
"""Numbers are read where a person would read them."""

import pytest

from bench_assets.core.parsing import numbers as module
from bench_assets.core.parsing.numbers import (
    final_number,
    format_number,
    list_numbers,
    parse_number,
    same_number,
    words_to_digits,
)
from bench_assets.suites.journeybench import answer_agreement
from tests.pinned_words import inline_words, survivors


@pytest.mark.parametrize(
    ("response", "number"),
    [
        pytest.param("Answer: 12", 12, id="after the label that was asked for"),
        pytest.param("**Answer:** $1,250.50.", 1250.5, id="money with a comma and cents"),
        pytest.param("Answer: 7\n\nI counted 3 cups twice.", 7, id="the label before the last one"),
        pytest.param("The answer is 5. No: the answer is 6.", 6, id="the last of two answers"),
        pytest.param("Answer: 3 + 4 = 7 cups of 9", 7, id="the result of a calculation"),
        pytest.param("3 + 4 = 7", 7, id="no label: the last number"),
        pytest.param("\\boxed{42}", 42, id="boxed"),
        pytest.param("#### 18", 18, id="as GSM8K writes it"),
        pytest.param("There are four cups.", 4, id="written out"),
        pytest.param("2 boxes, so 10 in all, one of them red", 10, id="digits before words"),
        pytest.param("It is -3 degrees", -3, id="below zero"),
        pytest.param("The answer cannot be found.", None, id="no number at all"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_the_final_number_of_a_response(response, number):
    assert final_number(response) == number


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("Two dogs and 3 cats", [2, 3], id="words and digits"),
        pytest.param("someone weighs tenfold", [], id="number words inside other words"),
        pytest.param("from 9:30 to 10", [9, 30, 10], id="times of day"),
        pytest.param("1,000,000", [1_000_000], id="commas between thousands"),
    ],
)
def test_all_numbers_of_a_text(text, found):
    assert list_numbers(text) == found


def test_a_number_has_no_more_than_twenty_words():
    # Each hundred is a hundred of those before it: 100^20, and one more is another number.
    assert words_to_digits(" ".join(["hundred"] * 21)) == f"1{'0' * 40} 100"


@pytest.mark.parametrize(
    ("number", "digits"),
    [
        (1e10, "10000000000"),
        (12345678901.0, "12345678901"),
        (-25e9, "-25000000000"),
        (1e22, "10000000000000000000000"),
        (10**30 + 1, "1000000000000000000000000000001"),
        (12345678901.5, "12345678901.5"),
        (1234567.8912, "1234567.8912"),
        (2.3 * 1_000_000, "2300000"),
        (1000.1 - 999, "1.1"),
        (0.000000005, "0.000000005"),
        (1e-5, "0.00001"),
        (-1.5e-12, "-0.0000000000015"),
        (0.7 + 0.1, "0.8"),
        (1 / 3, "0.3333333333"),
        (1.0, "1"),
        (0.0, "0"),
        (100, "100"),
    ],
)
def test_a_number_is_written_in_digits_that_are_read_as_it(number, digits):
    assert format_number(number) == digits
    assert list_numbers(digits) == [pytest.approx(number, rel=1e-9)]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param(5.0, 5.1, True, id="a tenth apart, which binary fractions overshoot"),
        pytest.param(5.0, 4.9, True, id="a tenth below"),
        pytest.param(5.0, 5.11, False, id="a little more than a tenth"),
    ],
)
def test_numbers_a_tenth_apart_are_the_same(one, other, same):
    assert same_number(one, other) is same


def test_a_text_with_more_than_a_number_is_no_number():
    assert [parse_number(text) for text in ("25%", "$3", "3 cups", "", "12,50")] == [
        25,
        3,
        None,
        None,
        None,
    ]


HALVES = (
    *(("dozen", "6"), ("hundred", "50"), ("thousand", "500"), ("million", "500000")),
    *(("billion", "500000000"), ("trillion", "500000000000")),
)
WRITTEN_OUT = [
    *(
        (word, str(n))
        for n, word in enumerate(["zero", "one", "two", "three", "four", "five", "six"])
    ),
    *(
        (word, str(n))
        for n, word in enumerate(["seven", "eight", "nine", "ten", "eleven", "twelve"], 7)
    ),
    *((word, str(n)) for n, word in enumerate(["thirteen", "fourteen", "fifteen", "sixteen"], 13)),
    *((word, str(n)) for n, word in enumerate(["seventeen", "eighteen", "nineteen", "twenty"], 17)),
    *((word, str(10 * n)) for n, word in enumerate(["thirty", "forty", "fifty", "sixty"], 3)),
    *((word, str(10 * n)) for n, word in enumerate(["seventy", "eighty", "ninety"], 7)),
    ("thirty-five", "35"),
    ("Twenty one", "21"),
    ("twenty, one", "20, 1"),
    ("twenty and one", "20 and 1"),
    ("twenty ten", "20 10"),
    ("three four", "3 4"),
    ("two thousand, and one", "2001"),
    ("two hundred  and  five", "205"),
    ("two hundred -and five", "200 -and 5"),
    ("two hundredand five", "2 hundredand 5"),
    ("forty zero", "40 0"),
    ("a hundred", "a 100"),
    ("two hundred", "200"),
    ("two hundred five", "205"),
    ("two hundred and five", "205"),
    ("one hundred, two hundred", "100, 200"),
    ("two hundred and thirty-one cups", "231 cups"),
    ("a thousand", "a 1000"),
    ("three thousand, two hundred and one", "3201"),
    ("five hundred thousand", "500000"),
    ("two million five", "2000005"),
    ("a dozen cups", "a 12 cups"),
    ("two dozen cups and one", "24 cups and 1"),
    ("a dozen, one of them red", "a 12, 1 of them red"),
    ("half a dozen cups", "6 cups"),
    ("two and a half cups", "2.5 cups"),
    ("two point two five", "2.25"),
    ("3 dozen", "36"),
    ("5 hundred", "500"),
    ("1.5 thousand", "1500"),
    ("1,200 million", "1200000000"),
    ("12345 million", "12345000000"),
    ("25 billion", "25000000000"),
    ("2.3 trillion", "2300000000000"),
    ("25-million", "25000000"),
    ("25million", "25000000"),
    ("3万个", "30000个"),
    ("2.5 亿", "250000000"),
    ("1.2万亿元", "1200000000000元"),
    ("25 millionaires", "25 millionaires"),
    ("two billion", "2000000000"),
    ("two billion five hundred million", "2500000000"),
    ("three trillion and five", "3000000000005"),
    ("twenty thousand million", "20000000000"),
    ("three thousand two hundred million", "3200000000"),
    ("one hundred and five thousand million and six", "105000000006"),
    ("two million five hundred thousand", "2500000"),
    ("two million three thousand four hundred", "2003400"),
    ("one million million", "1000000000000"),
    ("ten thousand dozen", "120000"),
    ("a hundred and five dozen", "a 1260"),
    ("twenty dozen", "240"),
    ("zero million", "0"),
    ("20 thousand million", "20000000000"),
    ("2 hundred thousand", "200000"),
    ("2.5 hundred-thousand dozen", "3000000"),
    ("two and a half billion", "2500000000"),
    ("1 and a half dozen", "18"),
    *((f"half a {times}", half) for times, half in HALVES),
    ("half million", "500000"),
    ("half of a million", "500000"),
    ("two point five million", "2500000"),
    ("twenty-two point five", "22.5"),
    ("one hundred and two point five", "102.5"),
    ("ten point zero one", "10.01"),
    ("2 point 5 million", "2500000"),
    *(
        (f"30 point {word} million", f"30{n}00000")
        for n, word in enumerate(module.NUMBER_WORDS[:10])
    ),
    ("half the million", "half the 1000000"),
    ("behalf a dozen", "behalf a 12"),
    ("0.00001 dozen", "0.00012"),
    ("someone weighs tenfold", "someone weighs tenfold"),
]

NOTHING = (
    *("answer", "clue", "comment", "context", "data", "description", "evidence", "idea", "reason"),
    *("indication", "information", "input", "mention", "number", "problem", "question", "text"),
    *("worries", "image", "picture", "photo", "photograph", "images", "clear answer"),
    *("further context", "such image"),
)

SHOTS = ("image", "picture", "photo", "photograph")

FINAL = [
    ("It is not 8 but 9.", 9),
    ("Answer: not 8 but 9 cups", 9),
    ("9, not 8", 9),
    ("I did not count 8: it is 9, never 8.", 9),
    ("Neither 8 nor 10, but 9, neither 10", 9),
    ("It is 9, nor 8", 9),
    ("It is 9 rather than 8", 9),
    ("It is 9 instead of 8", 9),
    ("It is 9, it isn't 8", 9),
    ("It is 9, it isn’t 8", 9),
    ("9 is right, 8 is not", 9),
    ("9 it is, 8 is wrong", 9),
    ("9 it is, 8 are incorrect", 9),
    ("thirty", 30),
    ("Answer: thirty-five cups", 35),
    ("There are four cups, one of them red.", 4),
    ("There are four cups, one another owns.", 4),
    ("Four. I like the one.", 4),
    ("Four. I like this one.", 4),
    ("Four. I like that one.", 4),
    ("Four. I like each one.", 4),
    ("Four. I like no one.", 4),
    ("Answer: 1/2", 0.5),
    ("3 1/2 cups", 3.5),
    ("Answer: minus five", -5),
    ("negative 5", -5),
    ("It is −5.", -5),
    ("9 minus 5 = 4", 4),
    ("Answer: 5kg", 5),
    ("Answer: $5 for 3 cups", 5),
    ("Answer: 25 % of 8", 25),
    *((f"the 6 on the {nth}", 6) for nth in ("21st", "22nd", "23rd", "5th")),
    ("Answer: 5-7", None),
    ("Answer: 5kg – 7kg", None),
    ("It is 5 to 7.", None),
    ("Answer: 5 or 6 cups of 12", None),
    ("between 5 and 7 cups", None),
    ("Answer: more than 5", None),
    ("Answer: less than 5", None),
    ("Answer: fewer than 5", None),
    ("Answer: at least 5", None),
    ("Answer: at most 5", None),
    ("Answer: up to 5", None),
    ("Answer: 3 + 4", None),
    ("Answer: 3 * 4", None),
    ("Answer: 12 / x", 12),
    ("Answer: 3 × 4", None),
    ("Answer: 3 ÷ 4", None),
    ("Answer: 3 x 4", None),
    ("The answer is unknown, of 5 cups.", None),
    ("The answer is 12. I saw 3.", 12),
    ("The total is 12. There were 3 rows of 4.", 12),
    ("The result is 12. There are 3 rows of 4.", 12),
    ("The answer: 12. I saw 3.", 12),
    ("The answer = 12. I saw 3.", 12),
    ("#### 12\nI saw 3.", 12),
    ("3 red and 4 blue, 7 in total, 2 big", 7),
    ("3 red and 4 blue, 7 cups in all, 2 big", 7),
    ("3 red and 4 blue, 7 altogether, 2 big", 7),
    ("3 and 4, so 7 of 9", 7),
    ("3 and 4, therefore 7 of 9", 7),
    ("3 and 4, thus 7 of 9", 7),
    ("3 and 4, hence 7 of 9", 7),
    ("3 and 4, a total of 7 for 9", 7),
    ("So it is 7. I like 2 of them.", None),
    ("There are no cups.", 0),
    ("There is no cup.", 0),
    ("There’s no cup.", 0),
    ("There's no cup.", 0),
    ("There are not any of 3 cups.", 0),
    ("There is not a cup with 3 spoons.", 0),
    ("There isn't a cup with 3 spoons.", 0),
    ("There aren’t any of the 3 cups.", 0),
    ("None of the 3 cups.", 0),
    ("No cups.", 0),
    ("I see no cups.", 0),
    ("I see none.", 0),
    ("I do not see any of 3 cups.", 0),
    ("I don't see a cup with 3 spoons.", 0),
    ("I don’t see a cup.", 0),
    ("I cannot see any of 3 cups.", 0),
    ("I can't see any of 3 cups.", 0),
    ("I can’t see any of 3 cups.", 0),
    ("Answer: none", 0),
    ("No, there are 5 cups.", 5),
    ("There is no more to say: 5.", 5),
    ("There is no less: 5.", 5),
    ("There are no fewer: 5.", 5),
    ("There is no way around 5.", 5),
    ("There is no need to count 5.", 5),
    ("There is no doubt: 5.", 5),
    *((f"There is no {nothing}.", None) for nothing in NOTHING),
    *((f"No {nothing}!", None) for nothing in NOTHING),
    *((f"None of the {them}.", None) for them in ("above", "answers", "choices", "options")),
    ("None of these options.", None),
    ("None of them.", 0),
    ("No problem! Please share the picture.", None),
    ("No image was provided.", None),
    ("I don't see any image, please upload it.", None),
    ("There are no images attached.", None),
    ("There are no pictures on the wall.", 0),
    ("There are no photos hanging there.", 0),
    ("There are no pictures left.", 0),
    ("There are no cups and no pictures left.", 0),
    *((f"There are no cups, as no {shot} is there.", None) for shot in SHOTS),
    *((f"There isn't any {shot}.", None) for shot in SHOTS),
    ("There are no cups and no pictures on it.", 0),
    ("There are no cups and no photos hanging there.", 0),
    *((f"I cannot see a cup {excuse} what I was given.", None)
      for excuse in ("because of", "since", "until", "unless", "without")),
    ("There are no cups because he broke them.", 0),
    ("Please upload the 2 images.", None),
    ("There are 5 cups. I can help you with 2 more.", 5),
    ("There's no clear answer; it may be 3", 3),
    ("I don't think the answer is 5.", None),
    ("6 it is, I don’t believe that it is 5", 6),
    ("I do not think it is 5 but 6", 6),
    ("It is 6; I cannot say 5", 6),
    ("I do not say that it is 5: 6 it is.", 6),
    ("I can't say that it is 1,200 or 5:6", None),
    ("It is not the case that the answer is 5.", None),
    ("I doubt that the answer is 5.", None),
    ("We doubt that the answer is 5.", None),
    ("\\boxed{\\frac{1}{2}}", 0.5),
    ("-\\dfrac{1}{2}", -0.5),
    ("3\\tfrac12", 3.5),
    ("½", 0.5),
    ("3½ cups", 3.5),
    ("-¾", -0.75),
    ("⅓", 0.3333333333),
    ("1.200,00", None),
    ("12.5.2024", None),
    ("10^6", None),
    ("10^{6}", None),
    ("1e6", None),
    ("1e-6", None),
    *((f"10{digit}", None) for digit in "⁰¹²³⁴⁹"),
    ("2^3 = 8", 8),
    ("5 m^2", 5),
    ("5 m^{2}", 5),
    ("5 m²", 5),
    ("答案是5", 5),
    ("答案是25亿。", 2_500_000_000),
    ("共3万个", 30_000),
    ("1万到2万", None),
    ("答案是5，图中有12个", 5),
    ("答案为5，图中有12个", 5),
    ("答案：5，图中有12个", 5),
    ("是5个", 5),
    ("总数为5", 5),
    ("图中有5个杯子。", 5),
    ("共5个", 5),
    ("第5个", None),
    *((f"{denied}5个", None) for denied in ("不是", "没有", "是否有", "绝非是")),
    *((f"答案是5{up_to}7个", None) for up_to in "到至或"),
    ("我不认为答案是5。", None),
    ("我不觉得答案是5。", None),
    ("我不认为答案是5, 是6", 6),
    ("I see five: two red and three blue", 5),
    ("Eight (five cups, three plates)", 8),
    ("12 (3 rows of 4)", 12),
    *((f"I see 3 ({how} 4 old)", None) for how in ("maybe", "perhaps")),
    ("I see 3 (or 4)", None),
    ("图中3个（或4个）", None),
    ("3 (= 12 / 4)", None),
    *((f"There are 4, {of_them} 1 is broken.", 4)
      for of_them in ("of which", "of whom", "of them", "including", "among them", "其中")),
    *((f"3 of {the} 5 cups", 3) for the in ("the", "these", "those", "all", "all the")),
    *((f"{see} 6 cups, 4 here and 2 there", 6)
      for see in ("There are", "There’s", "There's", "I see", "I can see", "I count", "I find", "I spot")),
    ("6 of them, 4 here and 2 there", 6),
    *((f"{there}6只，左边4只，右边2只。", 6) for there in ("", "图中", "图里", "有", "共", "一共", "总共有")),
    ("Of the cups, I count 6: 4 here and 2 there", 6),
    ("There are 6, 4 eaten, leaving 2", 2),
    *((f"There are 6, 4 eaten, {remaining} 2", None) for remaining in ("remaining", "剩下")),
    ("They had 6 cups, 4 here and 2 there", None),
    ("6 = 4 + 2", None),
    ("5个到7个", None),
    ("5只到7只", None),
    *((f"{none}", 0) for none in ("There are none.", "There isn't one.", "Not a single one.", "Not one.")),
    *((f"{none}", 0) for none in ("Nothing.", "Nobody.", "Not any.", "No, there are none left.")),
    ("Cups: none. Plates are there.", 0),
    ("没有。", 0),
    ("图中没有猫", 0),
    *((f"没有{what}", None) for what in ("足够信息", "提供", "给出", "办法", "任何信息", "信息", "明确答案")),
    *((f"没有{what}", None) for what in ("答案", "疑问", "必要", "问题")),
    *((f"一只{all_}{none}", 0) for all_ in "也都" for none in ("没有", "看不到")),
    ("一只也没看到", 0),
    ("半个也没看到", 0),
    *((f"{who} {has} no cups.", 0)
      for who in ("he", "she", "it", "they", "we", "you", "I") for has in ("has", "have", "had")),
    *((sign, n) for sign, n in zip("零四五六七八九", (0, 4, 5, 6, 7, 8, 9), strict=True)),
    ("两", 2),
    ("一百", 100),
    ("两千", 2000),
    ("零个", 0),
    ("There is just one.", 1),
    *((f"{one}", 1) for one in ("Just the one.", "Only the one.", "A single boat.", "An single one.", "There is a single one.")),
    *((f"{two}", 2) for two in ("A couple of dogs.", "A pair.", "There is a pair.", "There are a couple of dogs.")),
    *((f"{sign}个", n) for n, sign in enumerate("一二三四五六七八九", 1)),
    *((f"{word}{measure}", n) for word, n in (("十二", 12), ("二十", 20), ("一百零五", 105), ("两千", 2000))
      for measure in "只条头匹辆位名张幅本件把棵颗座艘架台间层排朵根支杯碗双对岁块片人"),
    *((f"{is_}三。", 3) for is_ in ("答案是", "答案为", "共有", "一共")),
    ("两个", 2),
    ("二十一", 21),
    ("第三个", None),
    ("十分清楚", None),
    *((f"图中{less}5个", None) for less in ("不到", "不足", "超过", "多于", "少于", "至少", "最多")),
    *((f"It cannot be determined exactly. {still} 5 cups.", 5)
      for still in ("There are", "I see", "We see", "About", "Around", "Approximately", "Roughly")),
    *((f"It cannot be determined exactly. {still} 5 cups.", 5) for still in ("A guess:", "An estimate:", "But", "Still")),
    *((f"无法确定。{about}5个。", 5) for about in ("大约", "大概", "估计", "但有")),
    ("It cannot be determined; the caption mentions 12.", None),
    ("图1中有3只猫", 3),
    ("他今年12岁", 12),
    ("First 3, then 4, altogether 7", 7),
    *((f"{so} 7 in 2 rows.", 7) for so in ("Altogether", "In total", "That makes", "Which makes")),
    *((f"It is {sign} 17.", None) for sign in "<>≤≥"),
    *((f"17{more}.", None) for more in ("+", " at least", " at most", " or more", " or fewer", " or less")),
    *((when, None) for when in ("At 5:30", "On 2024-05-03")),
    *((f"3 {unit} and 4 inches", None) for unit in ("feet", "foot", "pounds", "dollars", "years", "weeks", "days", "hours", "minutes")),
    *((f"3 hours, 4 {unit}s", None) for unit in ("minute", "second", "ounce", "cent", "month", "day", "hour")),
    ("She has 15 apples left after 3 days.", 15),
    *((f"He has 15 coins left after {way} 3 books.", 15) for way in ("buying", "buying the", "the", "all", "another")),
    ("The tree is 20 cm tall after 4 weeks and 30 cm after 6 weeks.", None),
    ("No solution.", None),
    ("", None),
]  # fmt: skip


def test_words_with_others_between_them_are_two_numbers():
    assert words_to_digits("one hundred dogs, two cats") == "100 dogs, 2 cats"


@pytest.mark.parametrize(("text", "digits"), WRITTEN_OUT)
def test_numbers_that_are_written_out(text, digits):
    assert words_to_digits(text) == digits


@pytest.mark.parametrize(("response", "number"), FINAL)
def test_what_a_response_comes_to(response, number):
    assert final_number(response) == number


VERBS = (
    *("is", "are", "was", "were", "will be", "has", "have", "had", "gets", "pays", "costs"),
    *("weighs", "needs", "earns", "makes", "spends", "takes", "receives", "keeps", "is left with"),
)
SO = (
    *("So", "Therefore,", "Thus", "Hence", "A total of", "Altogether", "In total,", "That makes"),
    *("Which makes", "The total is", "Total:", "Result ="),
)
MEASURES = (
    *("in", "after", "for", "with", "within", "during", "every", "per", "of", "all", "in the"),
    *("of these", "of those"),
)
CHECKS = ("Check", "To check", "Double-check", "Verification", "To verify", "验算", "验证", "检验")
PLACES = ("first", "second", "third", "other", "left", "right", "last")
TELLING = [
    ("The answer is 25000 million.", 25_000_000_000),
    ("The answer is 12345678901/2.", 6172839450.5),
    *((f"So 3 boys {verb} 5 pies.", 5) for verb in VERBS),
    *((f"{so} 6 km. There were 3 laps of 2 km.", 6) for so in SO),
    *((f"So {measure} 3 days he walks 5 km.", 5) for measure in MEASURES),
    *((f"Each has 12.\n{check}: 7 × 12 = 84.", 12) for check in CHECKS),
    *((f"5 × 8 = 40\n40 {sign}", None) for sign in "+×/÷=^x-"),
    *((f"There are 7, 3 in the {place} one and 4 here.", 7) for place in PLACES),
    *((f"He was 57 years old 15 years {when}.", 57) for when in ("ago", "later", "earlier")),
    *((f"So Ann has 12; she has 5 {more}.", 5) for more in ("more", "fewer", "less")),
    ("So Ann and Bo have 12; they have 5 more.", 5),
    *((f"Answer: He {has} not read 8 books in 4 days.", 8) for has in ("has", "have", "had")),
    *((f"5 + 2 = 7. 7 \\{sign}", None) for sign in ("times", "div", "cdot", "frac")),
    ("It has 2 heads, one facing left and the other facing right.", 2),
    ("So the ferry makes 7 trips. It carries 7 × 36 = 252 cars.", 252),
    ("So he has 5 cups. He gives 5: 5 - 5 = 0.", 0),
    ("The bill total is $48.00. 15% of $48.00 is $7.20.", 7.2),
    ("It can carry **35 parcels** (35 × 14 = 490 kg).", 35),
    ("The first part is 4.2 km, the second 3.7. The third part is", None),
    ("It takes 189 minutes, or about 3 hours.", 189),
    ("It takes 189 minutes, or a little over 3 hours.", 189),
    ("So it can be 3, 4 or 5.", None),
    ("Instead of 8.", None),
    ("It costs **$6 million**.", 6_000_000),
    ("It costs **\\$6 billion**.\n3 × \\$2 billion", 6_000_000_000),
    ("There are 8. That leaves 6 for 2 of us.", 6),
    ("There are 8, so 7; which leaves 6.\nHe had 8 and gave 2.", 6),
    *((f"答案:3个班,{need}5张", 5) for need in "共需付差剩到"),
    ("答案:3个班用1,200张纸", 1200),
    ("答案:3个班用12张纸", 12),
    *((f"It takes 7 litres.{start}{advice} 2 more.", 7)
      for start in ("\n", " ")
      for advice in ("Tip: buy", "**Tips:**", "Note: there are", "Hint: there are", "In practice, buy")),
    *((f"Take 7. {advice} 2 more.", 7) for advice in ("You may want", "You might want", "I would suggest")),
    *((f"Take 7! {advice} 2 more.", 7) for advice in ("I would recommend", "I'd suggest", "I’d suggest")),
    *((f"共7升。\n{advice}分2次浇水。", 7) for advice in ("提示：", "注意：", "建议")),
    ("It takes 7.\nNote: the answer is 8.", 8),
    ("There are 7.\nNote: each has 2, 7 × 2 = 14.", 14),
    *((f"It is 24 inches{is_} 2 feet.", 24)
      for is_ in (", which equals", ", which is equal to", ", which is equivalent to")),
    *((f"It costs $56{because} 4 kites cost 14 each.", 56)
      for because in (", as", ", given", " because", ", because", " since", ", since")),
    *((f"It costs $56 as {each} 4 kites of 14 or 9 here.", 56) for each in ("there", "each")),
    ("There are 4, and since each has 2, there are 8.", None),
    ("There are 4 and since each has 2 legs it makes 8.", None),
    ("It has 4, as well as 2 in 3 boxes.", None),
    ("It costs $56 since it has 1,200 seats.", 56),
    *((f"共56元，{because}有4个风筝，每个14元。", 56) for because in ("因为", "由于")),
    *((f"有4只狗，因为每只有2条腿，{so}有8条腿。", 8) for so in ("所以", "因此")),
    *((f"There are 6 men. The 90 seconds {are} here.", 6)
      for are in ("are not needed", "aren't relevant", "aren’t necessary")),
    *((f"There are 6 men. The 90 seconds are not needed {to}.", 6) for to in ("to tell", "for it", "here")),
    *((f"There are 6 men, and the 1,200 {are}.", 6)
      for are in ("seconds are irrelevant", "s are what we don't need", "s we don’t need", "s we do not need")),
    ("有6个人。每圈90秒与问题无关。", 6),
    ("There are 6 men, and it is irrelevant that they ran 1,200 or 7 m.", 6),
    *((f"I cannot see them. Each has 3. {how}.", None)
      for how in ("Multiply the count by 12", "Divide the count by 12", "Count them and add 12",
                  "Count, then subtract 12", "The number is multiplied by 12 for that")),
    *((f"有8个箱子。把箱子数{times}以12。", 8) for times in "乘除"),
    ("看不到图片，每箱3个。把箱子数乘以12。", None),
    ("I see 8 boxes. We multiply that by 12 and get 96.", 96),
    ("There are 8. 8 × 3 = 24. Then add 6.", 24),
    *((f"He had 24{then} {none} left.", 0)
      for then in (", there are", ", there is", ", there will be", ", he has", ", they have")
      for none in ("none", "nothing", "no rolls")),
    ("He had 24, there are **none** remaining.", 0),
    ("He needs 24 posts, and there are none left.", 24),
    ("No, there are none.", 0),
    ("He had **24** rolls, there are **none** left.", 0),
    ("It will take 2 hours and 30 minutes (150 minutes) in total.", 150),
    ("The 5 cakes take 2 hours, 30 minutes (2.5 hours).", 2.5),
    ("2 × 6 = 12. 12 × 7 = 84. So they eat 12 a day and 84 a week.", 84),
    ("2 × 6 = 12. 12 × 7 = 84. Answer: They eat 12 a day and 84 a week.", 84),
    ("5 × 3 = 15. It weighs 15 kg, or 33 pounds.", 15),
    ("Check: 7 × 12 = 84. Answer: He needs 7 boxes, 84 cups.", None),
    ("2 + 3 = 5. Answer: at least 5 of 9.", None),
    *((f"There are 20, so he eats 5. {left}", 15)
      for left in ("There are 15 left over from it, and 2 bags.", "There are 15 figs left.", "There are 15 remaining.")),
    ("So he can make 3 hats, with 4 beads left over.", 3),
    *((f"{given} 40 is 80% of 50, it is 20.", 20)
      for given in ("After", "As", "Because", "Given", "If", "Once", "Since", "When", "With")),
    *((f"So 6 km.{why}", 6)
      for why in (" There are 3 laps of 2 km.", " There were 3 laps of 2 km.", " She started with 8 and ran 2.", " She had 8 and ran 2.")),
    *((f"So 6 km. {other}", None)
      for other in ("There are 4 laps.", "There are 3 laps of 4 km.", "She ran 3 laps of 2 km.", "She keeps 5.")),
    ("There are 4 cats and 3 dogs (7 animals).", 7),
    ("Two on the left, three on the right: 5.", 5),
    ("They sold 2 in May and 5 in June, an increase of 3.", None),
    ("They sold 2 in May and 5 in June.", None),
    ("The answer is 12, and 3 each.", 12),
    ("The answer is 12, 3.", None),
    *((f"45 {sign} 17 {is_} 28.", 28)
      for sign in ("minus", "plus", "times", "divided by") for is_ in ("is", "equals", "makes")),
    *((f"We count 5 rows of 9 {sign} 45 cups", 45) for sign in ("→", "⇒", "≈", "\\approx")),
    ("It is 12.57 (using π ≈ 3.14)", 12.57),
    *((f"It costs $5, {so} 20 a week.", 20) for so in ("leaving", "meaning", "bringing it to", "but I go with")),
    ("I don't see any cups, so the sum cannot be told.", None),
    ("I don't see any cups, so the sum can't be told.", None),
    ("I don’t see any cups, so it can’t be told.", None),
    ("The answer depends on whether it is 5.", None),
    ("It takes 2.5 hours for all, considering that each of 5 takes 30 minutes.", 2.5),
    ("3 girls need 7 hats, one for each child.", 7),
    *((f"It costs {range_}.", None)
      for range_ in ("between $3 and €5", "$3 to £5", "$3 ~ $5", "at least ¥5", "more than $5")),
    *((f"He buys 5 and ends {up}with 12.", 12) for up in ("", "up ")),
    ("Since it costs $1,200, 40 pay.", 40),
    ("Answer: There are 6, 4 eaten, leaving 2", None),
    *((f"答案：有4只狗，因为每只有2条腿，{so}共8条腿。", 8) for so in ("所以", "因此")),
    *((f"He eats {halves}.", None) for halves in ("one half", "halves of 100")),
    *((f"He eats 2 {parts}.", None)
      for parts in ("halves", "thirds", "quarters", "fifths", "eighths", "tenths")),
    *((f"He eats a {part} of a 100.", None)
      for part in ("half", "third", "quarter", "fifth", "eighth", "tenth")),
    *((f"It is 5{rest} 2.", None) for rest in (" remainder", ", remainder", " with remainder", " with a remainder of")),
    *((f"{some} of the 5 cups are red.", None)
      for some in ("2-3", "2–3", "2~3", "2 to 3", "2 or 3", "Between 2 and 3")),
    ("It can be 3, 4 or 7.", None),
    ("The ratio is 1:2:3.", None),
    ("时间是5:30", None),
    ("日期是2024-05-03", None),
    ("答案：共3 x 4", None),
    ("有3个苹果和4个苹果。", None),
    ("It takes 3 h 20 min.", None),
    ("He is 5 feet 5 inches tall.", None),
    ("There are 3 cats and 3 dogs.", None),
    ("Answer: 25 000 cups", 25_000),
    *((f"Answer: 12{apart}350", 12_350) for apart in ("\u00a0", "\u2009", "\u202f", "'", "’", "\\,", "{,}")),
    ("There are 5-6 cats, 7-8 dogs and 9-10 birds.", None),
    *((f"x = 12{joined} y = 5", None) for joined in (",", " and", " or")),
    ("The answer should be 12, but since one is broken it is 11.", None),
    ("\\boxed{12} and \\boxed{5}", None),
    ("None of the 12 are left.", 0),
    ("Half of the 12 are left.", None),
    ("零下5度", -5),
    *((f"{some}十个", None) for some in "几数"),
    *((f"There are {some} dozen cups.", None) for some in ("several", "a few")),
    *((f"Answer: {decimal}", None) for decimal in ("12,5", "12,50 kg")),
]  # fmt: skip


@pytest.mark.parametrize(("solution", "number"), TELLING)
def test_the_number_of_several_that_a_solution_comes_to(solution, number):
    assert final_number(solution) == number


@pytest.mark.long
def test_no_word_can_be_taken_out_of_the_reading_of_numbers():
    rows = [
        *((final_number, response, number) for response, number in TELLING),
        *((words_to_digits, text, digits) for text, digits in WRITTEN_OUT),
        *((final_number, response, number) for response, number in FINAL),
    ]
    assert survivors([module], rows, lambda row: row[0](row[1]) == row[2]) == []


def test_every_word_of_the_reading_of_numbers_can_be_found():
    assert inline_words([module, answer_agreement]) == []


@pytest.mark.parametrize(
    ("solution", "number"),
    [
        ("So the ferry makes 7 trips. With 36 cars a trip, it carries 7 × 36 = 252 cars.", 252),
        ("So she has 18 left. She started with 22 and gave away 4.", 18),
        ("It would take **189 minutes**, or a little over three hours.", 189),
        ("There are **5** boys and **7** girls, so 12 children.", 12),
        ("**7** notebooks.\n84 ÷ 7 = 12", 12),
        ("Each notebook has 12 stickers. Check: 7 × 12 = 84.", 12),
        ("So each gets 4. To verify, 4 × 3 = 12.", 4),
        ("So, in 5 days, he drinks 10 cups.", 10),
        ("He will have $35 in 5 weeks.", 35),
        ("Therefore, each of the 5 children receives 8 candies.", 8),
        ("Answer: 2 adults and 5 children pay €59.", 59),
        ("Therefore, 20 such groups weigh 8.5 kilograms.", 8.5),
        ("24 ÷ 6 = 4 rows of 6 chairs.", 4),
        ("He starts with 12 and ends with 7.", 7),
        ("5 × 8 = 40 balloons\n40 ×", None),
        ("A wagon has 48 seats. A wagon has 48 seats. A wagon has", None),
        ("So the ratio is 3:4.", None),
        ("So the answer can be 3, 4 or 5.", None),
    ],
)
def test_the_result_of_a_solution_is_told_from_its_other_numbers(solution, number):
    assert final_number(solution) == number
