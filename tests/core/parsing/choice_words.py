# ruff: noqa: E501, SIM905
"""What a person reads in responses that deny, ask, suppose, set one letter against another, or fail.

Each row needs a word of the readers of choices (``test_response_words`` takes each of them out).
"""

from bench_assets.core.parsing import normalization, sentences
from tests.core.parsing.response_words import letter, of_sides

CARS = ("a red car", "a blue car", "a green car", "a yellow car")
YES_NO = ("yes", "no")


def of_cars(text):
    return letter(text, CARS)


def yes_or_no(text):
    return letter(text, YES_NO)


def of_what_is_there(text):
    return letter(text, ("no car", "one car"))


def none_or_few(text):
    return letter(text, ("none", "few"))


def of_shades(text):
    return letter(text, ("red", "blue", "dark red"))


def closer(text):
    return letter(text, ("A is closer", "B is closer"))


def numbered(text):
    return letter(text, ("1", "2", "3", "4"))


def takes_back(text):
    return letter(text, CARS) is None


STATED_NO = [
    "The answer is no.", "Answer: No", r"\boxed{no}", "<answer>no</answer>", "Final answer: no",
    "So the answer is: no", "The answer is (B) no.", "Answer: B. No", "(B) no", "I'd say no.",
    "The answer is no, because there is no car.",
]  # fmt: skip
AFTER_A = "and although as at because but for from here in on or over since than the then though which while with".split()
STATED_A = [
    *(f"The answer is A {word} (B) there." for word in "but although though over instead".split()),
    *(f"Pick A {word} it does." for word in AFTER_A if word != "or"),
    "The answer is A and not B.", "I choose A over B.", "Answer: A although option B looks similar",
    r"\boxed{A}", r"The result is \boxed{ (A). }", "<answer>A</answer>",
    "It is not blue, so the answer is A.", "It is not blue; the answer is A.", "It is not blue: the answer is A.",
    *(f"It is not blue {word} the answer is A." for word in ("so", "therefore", "thus", "hence", "but", "however", "and", "then", "yet")),
    *(f"It isn't blue {word}的选A" for word in ("所以", "因此", "但", "故")),
    *(f"{word} it is not blue the answer is A." for word in ("Since", "Because", "As", "Given that", "Although", "Though", "While", "When")),
    "The answer is A, even if it is partly hidden.", "The answer is A, as if painted.",
    "No doubt the answer is A.", "Without doubt the answer is A.", "Without a doubt the answer is A.",
    "Without any doubt the answer is A.", "Beyond doubt the answer is A.", "Beyond a doubt the answer is A.",
    "Beyond any doubt the answer is A.", "No question the answer is A.", "Not only the answer is A.",
    *(f"{word}答案是A" for word in ("不难看出", "不得不说", "不能不说", "没错", "真不错")),
    "The only possible answer is A.", "I would say the answer is A.", "We would say the answer is A.",
    *(f"If {what}, the answer is A." for what in (
        "forced to choose", "pressed", "the question is about it", "I must choose", "we had to choose", "you have to choose",
        "I were to choose", "we are to choose", "you look closely", "we compare them", "we consider it", "we focus on it",
        "we treat it as red", "we use it",
    )),
    "The answer is A if I must choose.",
    "What is the answer? A", "若干图中答案是A",
    "The answer is A. Option B says it is blue, but that is wrong.", "I'm not sure (B) is correct, but (A) is correct.",
]  # fmt: skip
NOT_CHOSEN = [
    *(f"{how} the answer is A." for how in (
        "I don't think", "I do not believe that", "It is not true that", "There is no way", "There is no evidence that",
        "There is no reason why", "No one says", "Nobody is sure that", "It is never the case that", "I cannot say that", "It is false that", "I am unable to say that",
        "It is wrong that", "It is incorrect that", "I doubt that", "I refuse to say", "None proves that", "Neither proves that", "No one knows that", "Nor is it the case that",
        "It could be that", "It may be that", "It might be that", "I wonder whether", "Suppose", "Let's assume", "Imagine that",
        "They claim that", "He claims that", "They claimed that", "He argues that", "They argue that", "He says", "They say", "They said", "They think", "He thinks",
        "They believe", "He believes", "At first", "Were it red", "Had it been red", "Should it be red", "It is red. Otherwise",
        "If it is red,", "Unless it is red,", "Please send it so I can tell whether it is so that",
    )),
    *(f"{how} answer is A." for how in ("A common", "A possible", "A plausible", "A typical", "No", "No such")),
    *(f"{how}答案是A" for how in ("不", "没有说", "非", "错误的", "别说", "勿说", "无法说", "拒绝说", "可能", "有人说", "如果是红色,", "假如是红色,", "假设是红色,", "要是红色,", "若是红色,")),
    "答案是A吗", "Is the answer A?", "The answer is A?", "So is (A) correct?", "I won't answer A.",
    *(f"The answer is A{on} it is red." for on in (" if", ", if", " but only if", ", only if", " unless")), "答案是A，如果是红色",
    "Neither A nor (B) is correct.", "None of (A), (B) is correct.", "None of (A), (B), or (C) is correct.", "None of (A), (B), and (C) is correct.", "Neither (A), nor (B) is correct.", "The answer is (B) unless it is red.", "答案是(B)如果是红色",
    "The answer is A, which is wrong.", "The answer is A. Actually, that's incorrect.", "A. No, that is wrong.",
    "The answer is A or (B)", "Either the answer is A or the answer is D.", r"\boxed{A} or \boxed{C}",
    r"$\boxed{A}$ and $\boxed{C}$", "<answer>A</answer><answer>C</answer>", r"\boxed{A}\boxed{B}",
    "N/A", "n/a", "Answer: N/A", "The answer is N/A.", r"\boxed{N/A}", '{"answer": "N/A"}', "U.S.A.", "D.C.", "20 °C", "20°C", "C++",
    *(f"(B) {how} found" for how in ("not", "could be", "may be", "might be", "cannot be", "isn't", "doesn't get")),
    "(B) missing", "(B) failed to load",
    "Image B not found.", "Failed to load image B", "[Image B missing]", "Error code B", "Request ID: C", "It timed out (B)", "It was blocked (B)", "A violation (B)", "An error (B)", "It failed (B)", "It is missing (B)",
    *(f"{thing} B" for thing in ("Vitamin", "Plan", "Grade", "Hepatitis", "Figure", "Appendix", "Code", "Dr", "Dr.", "ID")),
    *(f"{no} (B)" for no in "nicht kein keine weder pas não nem niet nie не ни нет".split()), "Bではありません", "Bではない", "B가 아니다", "B가 아닙니다",
    "Anything but A.", "Any but A.", "All but B", "Every other than A", "Everything other than A", "All other than A", "I refuse to choose B.", "We must decline. (B)", "I will decline (B).", "I have to decline (B).", "I decline: B", "It is unlikely: B", "I doubt it is A.", "It is false: B",
    *(f"{perhaps} A." for perhaps in ("Maybe", "Perhaps", "Possibly")), "也许A", "或许A", "可能A", "Is it A?", "A?", "(A)?", "B...?",
    *(f"{no}B" for no in ("不选", "不选择", "不能选", "别选", "勿选", "拒绝", "未必")), *(f"B{wrong}" for wrong in ("错误", "有误", "是错的", "选项错误。", "选项有误。", "选项是错的。", "选项不对。", "选项没有。", "选项未见。", "选项可能对。", "选项的错。")), "不应该选择C",
    "Please provide the image so I can choose: (A)",
]  # fmt: skip
HELP = [
    *(f"Yes, {how} it." for how in (
        "please send", "please share", "please upload", "please provide", "please attach", "please describe", "please paste", "please show",
        "could you send", "can you send", "would you send", "could you please send",
    )),
    *(f"Yes, {how}." for how in (
        "I can help", "I'd be happy to help", "I'm glad to assist", "we can help", "I would love to help", "I am here to help", "we are glad to help", "I'll gladly help", "I will certainly help", "I would like to help",
        "I cannot help", "I can not help", "I could not help", "I am unable to help", "I am not able to help", "I do not really help", "I can't assist",
        "I need the image", "I need to see your picture", "I need an photo", "I can't have access to files", "请提供", "请上传", "请发送",
        *(f"I can't {see} the image" for see in ("view", "see", "process", "open", "access", "load", "analyze", "analyse", "have")),
        *(f"I can't see {any_} photo" for any_ in ("this", "that", "these", "those", "any", "your", "an", "an attached", "an uploaded", "the provided")),
        *(f"I can't see any {what}" for what in ("image", "images", "file")),
    )),
    "Yes, of course! Please send it.", "Yes. Please send it.", "Yes, certainly. Please send it.", "Yes, sure! Please send it.", "Yes, gladly! Please send it.", "Yes, sorry! Please send it.", "Yes, I can help! Please send the picture.", "Yes，请提供",
]  # fmt: skip
NO_HELP = [
    "Yes, I can see it.", "Yes, it can help.", "Yes, there is one. I can help with more!", "Yes, of course it is. Please send more.", "Yes, I can't see why not.",
]  # fmt: skip
BACK = [
    *(f"(B). {how}" for how in (
        "No, that is wrong.", "But that is wrong.", "Wait, that is wrong.", "Actually, that is wrong.", "Sorry, that is wrong.", "Oops, that is wrong.", "Hold on, that is wrong.",
        "That's wrong.", "That’s wrong.", "That was wrong.", "This is wrong.", "It is wrong.", "That is clearly wrong.",
        "That is incorrect.", "That is false.", "That is not right.", "That is not correct.", "That is not true.", "That is a joke.", "That is a mistake.",
        "I take that back.", "I take it back.", "I take this back.", "I was wrong.", "I was kidding.", "I was joking.", "Just kidding.", "Just joking.", "这是错的", "这不对", "那错了",
    )),
    "(B), which is wrong.", "A blue car. No, that is wrong.",
]  # fmt: skip
NOT_BACK = [
    "(B). The other is wrong.",
    "(B). It is wrong to say more.",
]
TAKEN_BACK = [
    *((takes_back, text, True) for text in BACK),
    *((takes_back, text, False) for text in NOT_BACK),
]
SEEN = "It has four wheels and stands beside a house, as far as one can see it from here."

CHOICES = [
    *((of_cars, f"{SEEN}\n\n{so} B", "B")
      for so in ("", "So:", "Thus", "Therefore,", "Hence:", "Conclusion:", "Ans:", "Final:", "Result:", "Correct:")),
    (of_cars, "It might be a red car, but the wheels are new.\n\n**B**", "B"),
    (of_cars, f"{SEEN}\nA\nB", None),
    *((of_cars, f"{SEEN} The answer is {very} B.", "B")
      for very in ("thus", "most likely", "more likely", "very likely", "actually", "simply", "indeed", "obviously")),
    *((of_cars, f"Option A {does}, as one sees. Option B best matches it.", "B")
      for does in ("can be ruled out", "does fit badly", "shows a house", "depicts a house", "represents a house", "describes a house", "suggests a house")),
    *((of_cars, f"The most {firm} answer is A.", "A") for firm in ("common", "possible", "plausible", "typical")),
    (of_cars, "The best possible answer is A.", "A"),
    (of_cars, "The more plausible answer is A.", "A"),
    *((of_cars, text, "B") for text in ("因此，最可能的答案是B。", "因此，最有可能的答案是B。")),
    (of_cars, "可能的答案是B。", None),
    *((closer, f"Point A is {away}.", None) for away in ("in the background", "lighter", "brighter", "paler")),
    *((closer, f"Point A is {away}.", "B") for away in ("farther away", "further away", "behind B", "the more distant")),
    (closer, "Compared to A, B is farther away.", "A"),
    *((closer, f"A is {where}.", None) for where in ("farther to the left", "further down in the image", "behind the glass", "not farther away")),
    (closer, "B is closer, A is farther", "B"),
    *((yes_or_no, text, "B") for text in ("No - there is none of them", "No because there is none of them", "No: there is none", "No (none)", "No – none", "No — none", "There is no dog. (B)")),
    (yes_or_no, '{"answer": "no"}', "B"),
    (yes_or_no, "**Answer: B (No)**", "B"),
    (numbered, "1. A black dog.\n2. A white dog.\n3. A brown dog.", None),
    *((yes_or_no, text, "B") for text in STATED_NO),
    *((yes_or_no, text, None) for text in ("The answer is no way to tell.", "<answer>yes</answer><answer>no</answer>")),
    *((yes_or_no, text, None) for text in HELP),
    *((yes_or_no, text, "A") for text in NO_HELP),
    (none_or_few, "The answer is none.", "A"),
    (of_shades, "The answer is dark red.", "C"),
    (of_shades, "The answer is the dark red.", "C"),
    *((of_what_is_there, text, "A") for text in ("The answer is no car.", "There is no car in it.", "Therefore, there is no car.")),
    *((of_cars, text, "A") for text in STATED_A),
    *((of_cars, text, None) for text in NOT_CHOSEN),
    *((of_cars, text, "C") for text in ("It's C, not A.", "C rather than A.", "A is wrong, B is wrong, so C.")),
    (of_cars, "The point C is nearest, so it is the one.", "C"),
    *((normalization.normalize_response, text, "not applicable") for text in ("N/A", "n/A", "N/a", "n/a")),
    (normalization.normalize_response, "The U.S.A. and D.C. are", "The USA. and DC. are"),
    (normalization.normalize_response, r"\boxed{A} or \boxed{C}", "the answer is: (A).  or  the answer is: (C)"),
    (normalization.normalize_response, "第二张图", "the second image"),
    (normalization.normalize_response, r"\boxed{2} cm", "the answer is: 2 cm"),
    *((letter, f"答案是(B){on}(A)点的狗很大", "B") for on in ("但", "而")),
    (letter, "The answer is (B) not the dog of (A) there.", "B"),
    *((sentences.is_negated, f"{how} (A).", False) for how in ("No question,", "Without question,", "Not only")),
    (letter, "选(B)而(A)点的狗很大", "B"),
    (of_sides, "(A) left\n(B) right\nThe camera is moving left.", "A"),
    (sentences.refuses, "It is not able to say.", True),
]  # fmt: skip
