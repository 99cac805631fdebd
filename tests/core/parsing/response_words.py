# ruff: noqa: E501, SIM905
"""A row for each word of the readers of responses: what a person makes of it.

Rows are (function, text, what it should give). Where a list of words does one thing, so does a list
here: the words are those that people use, one sentence around each.
"""

from bench_assets.core.parsing import normalization, sentences
from bench_assets.core.parsing.choices import read_choice

SECOND_OR_THIRD = ("the second image", "the third image")
LEFT_RIGHT = ("left", "right")
CLOSER = ("A is closer", "B is closer")
LETTERS = ("", "", "", "")


def letter(text, options=LETTERS):
    return read_choice(text, options).letter


def of_images(text):
    return letter(text, SECOND_OR_THIRD)


def of_claims(text):
    return letter(text, ("yes", "no"))


def of_sides(text):
    return letter(text, LEFT_RIGHT)


def of_depths(text):
    return letter(text, CLOSER)


def of_numbers(text):
    return letter(text, tuple("12345678"))


def of_large_numbers(text):
    return letter(text, ("8", "9", "10", "11"))


def why(text):
    return read_choice(text, SECOND_OR_THIRD).why


DENYING = (
    "not no never neither nor none cannot unlike rather instead except without incorrect wrong "
    "unable difficult excluded eliminated don't isn’t 不 没 非 排除 无法"
).split()
REFUSING = [
    *(f"It is {how} to say." for how in ("not possible", "impossible", "unable")),
    *(f"There is {how} to say so." for how in ("no way", "not enough")),
    "It cannot be determined.",
    *(
        f"I {how} help with it."
        for how in ("cannot", "can't", "can’t", "could not", "can't really")
    ),
    *(
        f"I cannot {what} it."
        for what in (
            "determine see view tell help assist answer provide choose select identify make"
        ).split()
    ),
    *("I'm sorry.", "无法判断", "抱歉"),
]

WORDS = [
    *((sentences.is_negated, f"It is {word} (A).", True) for word in DENYING),
    (sentences.is_negated, "I ruled out (A).", True),
    (sentences.is_negated, "I know it is (A).", False),
    *((sentences.refuses, text, True) for text in REFUSING),
    (sentences.refuses, "It is not (A), I can see that.", False),
    (
        sentences.split_sentences,
        "a. b! c? d; e。f！g？h\ni",
        "a.|b!|c?|d;|e。|f！|g？|h|i".split("|"),
    ),
    (normalization.normalize_option, "The dog.", "dog"),
    (normalization.normalize_option, "an Owl", "owl"),
]

PLAIN = {
    "<|im_end|>A</s>": "A",
    "<s>*A*`B`#C$D": "ABCD",
    "__A__": "A",
    r"\text{A}; \mathrm{B}; \mathbf{C}": "A; B; C",
    r"\boxed{A}": "the answer is: (A)",
    "<answer>A</answer>": "the answer is: (A)",
    "第一张图片 第2幅图像 第三个照片 第四图": "the first image the second image the third image "
    "the fourth image",
    "第一张 第二幅 第三张 第四张 图2": "the first image the second image the third image the fourth "
    "image the second image",
    "Image 1 image no. 2 Picture No 3 picture # 4 Photo 1 photo 2": "first image second image third "
    "image fourth image first image second image",
    "1st 2nd 3rd 4th": "first second third fourth",
    "first, second and third image": "first image, second image and third image",
    "third nor the fourth image": "third image nor the fourth image",
    "first or second image": "first image or second image",
    "first picture second photo third photograph fourth painting": "first image second image third "
    "image fourth image",
}
WORDS += [(normalization.normalize_response, text, expected) for text, expected in PLAIN.items()]

# What is stated counts, where a mere mention of two options would not.
_ON = " (B). The dog of (A) is large."
_AUF = "(B)。(A)点的狗很大。"
STATED = [
    *(f"The answer{to} is{_ON}" for to in ("", " to this question", " to the question")),
    *(f"The {how} option is{_ON}" for how in ("correct", "right", "best")),
    *(f"The correct {what} is{_ON}" for what in ("choice", "one", "point", "match")),
    f"The correct corresponding point is{_ON}",
    *(f"{what} is{_ON}" for what in ("My choice", "The final choice", "My pick")),
    *(f"{who}{will} choose{_ON}" for who in ("I", "we") for will in ("", "'d", " would", " will", " might")),
    *(f"I {what}{_ON}" for what in ("pick", "select", "say", "suggest", "go with", "opt for", "lean towards")),
    *(f"{who} {what}{_ON}" for who in ("I", "we") for what in ("think", "believe", "guess")),
    *(f"The answer {lead}{_ON}" for lead in (
        "the", "that", "it's", "is", "are", "was", "be", "should", "would", "must", "likely",
        "probably", "clearly", "definitely", "therefore", "to see here would be",
    )),
    *(f"{what}{_AUF}" for what in ("答案", "正确选项", "选", "选择")),
    *(f"答案{lead}{_AUF}" for lead in "是为应该"),
    *(f"The answer is (B) {end} (A) there." for end in (
        "because", "since", "as", "while", "rather", "not", "than", "with", "which", "due", "given", "for",
    )),
    "The answer is (B). There is (A).",
    "答案是(B)因为(A)点的狗很大",
    "The answer is: b. The dog of (A) is large.",
    *(f"Here (B) is the {how}. The dog of (A) is large." for how in ("best", "answer")),
    *(f"Here (B) is the correct {what}. The dog of (A) is large." for what in (
        "answer", "option", "choice", "one", "point", "match", "corresponding point",
    )),
    "点(B)正确。(A)点的狗很大。",
    "点(B)是正确。(A)点的狗很大。",
    "B: long ears. The dog of (A) is large.",
    *(f"Here (B) {claim} it. There (A) is too large for it." for claim in (
        "is most similar to", "is the most likely of", "more accurately fits", "shares", "corresponds to",
    )),
    "It shows two.\nA: the dog is large.\nB: my choice is (B).",
]  # fmt: skip
NOT_STATED = [
    "Is it so that (B) is correct? The dog of (A) is large.",
    "Is it so that (B) is correct ? The dog of (A) is large.",
    "Here (B) is the right ear. The dog of (A) is large.",
    "The answer is (B), or (A) lies there.",
    *(f"(B) {goes_on} near it. The dog of (A) is large." for goes_on in (
        "is", "was", "are", "has", "appears", "seems", "looks", "would", "and", "or", "on", "in",
    )),
]  # fmt: skip
_FAR = "Point B is behind it, closer to the wall."
CLOSER_A = [
    *(f"Point A {is_} closer. {_FAR}" for is_ in ("is", "appears", "seems", "looks")),
    *(f"Point A {is_} closer. {_FAR}" for is_ in ("would be", "appears to be", "is much", "is slightly")),
    f"Point A, which is on the dog, is closer. {_FAR}",
]  # fmt: skip
WORDS += [(letter, text, "B") for text in STATED]
WORDS += [(letter, text, None) for text in NOT_STATED]
WORDS += [(of_depths, text, "A") for text in CLOSER_A]
WORDS += [
    (of_depths, "Point A is closer to (B).", None),
    (of_images, "Answer: B. the second image", None),
    (of_images, "The answer is B. The second image is dark.", "B"),
    (of_images, "The second image (B)", None),
    (of_sides, "The camera is moving left. The camera was right before.", "A"),
    (of_sides, "The left one of the dogs is dark and large.", None),
    (of_sides, "The right one of the dogs is dark and large.", None),
    (of_sides, "相机是向左移动的", "A"),
    (of_sides, "镜头是向左移动的", "A"),
    *((of_numbers, f"There are {word} of the dogs here.", of) for word, of in zip(
        ("one", "two", "three", "four", "five", "six", "seven", "eight"), "ABCDEFGH", strict=True
    )),
    (of_large_numbers, "There are nine of the dogs here.", "B"),
    (of_large_numbers, "There are ten of the dogs here.", "C"),
    (why, "B", "nothing but the answer"),
    (why, "The third image.", "nothing but the answer"),
    (why, "At first A. Final answer: B", "a stated answer"),
    (of_images, "The answer is A. Final answer: B", "B"),
    (of_images, "The answer is A. My final answer is B.", "B"),
    (why, "I think the answer is B.", "a stated answer"),
    (why, "It shows much.\n(B) the third image", "the one line that is an option"),
    (why, "B\n\nIt shows much more of it.", "its first line"),
    (why, "The third image; it is lighter.", "what it begins or ends with"),
    (of_claims, "The claim that the cat sleeps is true.", "A"),
    (of_claims, "It is true that the cat sleeps.", "A"),
    (of_claims, "yes it is", "A"),
    (of_claims, "The claim that the cat sleeps is not true.", "B"),
    (of_claims, "It is not the case that the cat sleeps.", "B"),
    (of_claims, "no it isn't", "B"),
    (why, "I see B here", "the only option mentioned"),
    (why, "The colour of it -> B", "what it begins or ends with"),
    (why, "The colour of it = B", "the only option mentioned"),
]  # fmt: skip
