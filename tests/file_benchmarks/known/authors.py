"""The rules of each benchmark's authors, restated from their published code in other words.

A rule takes the rows of the file and the responses, in order, and gives the authors' numbers by
the names of our measures. Where a script falls back on a guess or asks GPT, it is not restated:
no response of the tests comes that far.
"""

import ast
import re
import string
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

from tests.file_benchmarks.known.layouts import HEIGHT, WIDTH

Rows = Sequence[Mapping[str, Any]]
Rule = Callable[[Rows, Sequence[str]], dict[str, float]]


def share(right: Sequence[bool]) -> dict[str, float]:
    """Accuracy."""
    return {"accuracy": fmean(map(float, right))}


def last_letter(response: str, letters: str) -> str:
    """MMMU's and MuirBench's: bracketed letters first, else letters that stand alone; the last."""
    text = f" {response.strip(',.!?;:')} "
    for form in ("({})", " {} ", " {}."):
        named_letters = [letter for letter in letters if form.format(letter) in text]
        if named_letters:
            return max(named_letters, key=lambda letter: text.rfind(form.format(letter)))
    raise AssertionError(f"the script would guess: {response!r}")


def mmmu(rows: Rows, responses: Sequence[str]) -> dict[str, float]:
    """Letters; an open answer is right if a number in it equals a gold one, to two decimals."""

    def is_right(row: Mapping[str, Any], response: str) -> bool:
        if row["question_type"] == "multiple-choice":
            return (
                last_letter(response, "ABCD"[: len(ast.literal_eval(row["options"]))])
                == row["answer"]
            )
        gold = ast.literal_eval(row["answer"]) if row["answer"].startswith("[") else [row["answer"]]
        numbers = [round(float(text), 2) for text in gold if text.replace(".", "").isdigit()]
        return round(float(response), 2) in numbers

    return share([is_right(row, response) for row, response in zip(rows, responses, strict=True)])


def mmbench(rows: Rows, responses: Sequence[str]) -> dict[str, float]:
    """The one letter among the words of a response; a question is right if all its turns are."""
    turns: dict[int, list[bool]] = defaultdict(list)
    for row, response in zip(rows, responses, strict=True):
        words = re.sub(r"[.()\[\],:;!*#{}]", " ", response).split()
        (letter,) = [letter for letter in "ABCD" if letter in words]
        turns[row["index"] % 1_000_000].append(letter == row["answer"])
    right = [one for group in turns.values() for one in group]
    return {"group_accuracy": fmean(map(all, turns.values())), **share(right)}


def mmstar(rows: Rows, responses: Sequence[str]) -> dict[str, float]:
    """The gold letter at the beginning, in a bracket, or behind "option" or "the answer is"."""

    def is_right(gold: str, response: str) -> bool:
        response = response.lower().strip().replace("\n", " ")
        starts = ("", "(", "option ", "the answer is ")
        return any(response.startswith(start + gold.lower()) for start in starts)

    return share(
        [is_right(row["answer"], response) for row, response in zip(rows, responses, strict=True)]
    )


def mathvista(rows: Rows, responses: Sequence[str]) -> dict[str, float]:
    """What is extracted is brought into the form of the gold, and compared as text."""

    def normalised(row: Mapping[str, Any], response: str) -> str:
        if row["question_type"] == "multi_choice":
            bracketed = re.findall(r"\(([a-zA-Z])\)", response)
            letter = bracketed[0] if bracketed else response.strip().strip(".")
            return str(row["choices"]["ABCD".index(letter)])
        if row["answer_type"] == "integer":
            return str(int(float(response)))
        if row["answer_type"] == "float":
            return str(round(float(response), int(row["precision"])))
        return response

    return share(
        [
            normalised(row, response) == row["answer"]
            for row, response in zip(rows, responses, strict=True)
        ]
    )


def without_punctuation(text: str) -> str:
    """As exact match in lmms-eval that ignores case and punctuation."""
    return text.translate(str.maketrans("", "", string.punctuation)).strip().lower()


def ai2d(rows: Rows, responses: Sequence[str]) -> dict[str, float]:
    """The letter of the gold's place, without punctuation."""
    golds = ["abcd"[int(row["answer"])] for row in rows]
    return share(
        [
            without_punctuation(response) == gold
            for gold, response in zip(golds, responses, strict=True)
        ]
    )


def chartqa(rows: Rows, responses: Sequence[str]) -> dict[str, float]:
    """A number may be 5 % of the gold away, percents as shares; words without case."""

    def number(text: str) -> float | None:
        try:
            return float(text.rstrip("%")) / 100 if text.endswith("%") else float(text)
        except ValueError:
            return None

    def is_right(gold: str, response: str) -> bool:
        given, expected = number(response), number(gold)
        if given is not None and expected:
            return abs(given - expected) / abs(expected) <= 0.05
        return response.lower() == gold.lower()

    right = [
        is_right(row["answer"], response) for row, response in zip(rows, responses, strict=True)
    ]
    return {"relaxed_accuracy": share(right)["accuracy"]}


def edits(source: str, target: str) -> int:
    """Levenshtein's distance, by its definition."""
    table = [[i + j for j in range(len(target) + 1)] for i in range(len(source) + 1)]
    for i, letter in enumerate(source, 1):
        for j, another in enumerate(target, 1):
            table[i][j] = min(
                table[i - 1][j] + 1,
                table[i][j - 1] + 1,
                table[i - 1][j - 1] + (letter != another),
            )
    return table[-1][-1]


def docvqa(rows: Rows, responses: Sequence[str]) -> dict[str, float]:
    """ANLS with the threshold of a half."""

    def points(references: Sequence[str], response: str) -> float:
        pairs = [
            (" ".join(reference.lower().split()), " ".join(response.lower().split()))
            for reference in references
        ]
        distances = (edits(*pair) / max(map(len, pair)) for pair in pairs)
        best = 1 - min(distances)
        return best if best >= 0.5 else 0.0

    return {
        "anls": fmean(
            points(row["answers"], response) for row, response in zip(rows, responses, strict=True)
        )
    }


def pope(rows: Rows, responses: Sequence[str]) -> dict[str, float]:
    """The first sentence is "no" if it has the word no or not; everything else is "yes"."""

    def says_no(response: str) -> bool:
        words = response.split(".", maxsplit=1)[0].replace(",", "").split(" ")
        return bool({"No", "not", "no"} & {*words})

    pairs = [
        (not says_no(s), row["answer"] == "yes") for row, s in zip(rows, responses, strict=True)
    ]
    right, wrong, missed = (
        pairs.count(one) for one in ((True, True), (True, False), (False, True))
    )
    precision, recall = right / (right + wrong), right / (right + missed)
    return {
        "f1": 2 * precision * recall / (precision + recall),
        "precision": precision,
        "recall": recall,
        "yes_ratio": (right + wrong) / len(pairs),
        **share([answer == gold for answer, gold in pairs]),
    }


def hallusionbench(rows: Rows, responses: Sequence[str]) -> dict[str, float]:
    """All of a question over the figures of its set; all questions of a figure that is there."""
    pairs: dict[str, list[bool]] = defaultdict(list)
    figures: dict[str, list[bool]] = defaultdict(list)
    every = []
    for row, response in zip(rows, responses, strict=True):
        right = response.lower().startswith("yes" if row["gt_answer"] == "1" else "no")
        figure = (row["category"], row["subcategory"], row["set_id"])
        pairs["_".join((*figure, row["question_id"]))].append(right)
        if not (row["category"] == "VS" and row["figure_id"] == "0"):
            figures["_".join((*figure, row["figure_id"]))].append(right)
        every.append(right)
    return {
        "group_accuracy": fmean(map(all, pairs.values())),
        "f_acc": fmean(map(all, figures.values())),
        **share(every),
    }


def mmvp(rows: Rows, responses: Sequence[str]) -> dict[str, float]:
    """A pair is right if both of its questions are."""
    texts = {"a": "open", "b": "closed"}
    right = []
    for row, response in zip(rows, responses, strict=True):
        gold, words = row["Correct Answer"].strip("()"), response.lower()
        right.append(words.startswith((f"({gold})", texts[gold])) or words == gold)
    pairs = [pair for n, pair in enumerate(pairwise(right)) if n % 2 == 0]
    return {"group_accuracy": fmean(map(all, pairs)), **share(right)}


def muirbench(rows: Rows, responses: Sequence[str]) -> dict[str, float]:
    """Letters, as MMMU's."""
    letters = [last_letter(letter, "ABC") for letter in responses]
    return share([letter == row["answer"] for letter, row in zip(letters, rows, strict=True)])


def realworldqa(rows: Rows, responses: Sequence[str]) -> dict[str, float]:
    """Equality without case and punctuation."""
    return share(
        [
            without_punctuation(response) == without_punctuation(row["answer"])
            for row, response in zip(rows, responses, strict=True)
        ]
    )


def mmvet(rows: Rows, responses: Sequence[str]) -> dict[str, float]:
    """The mean of the judge's grades."""
    assert len(rows) == len(responses)
    return {"mean_grade": fmean(map(float, responses))}


def refcoco(rows: Rows, responses: Sequence[str]) -> dict[str, float]:
    """The first four numbers in brackets against the box, both as shares of the image."""
    overlaps = []
    golds = [row["bbox"] for row in rows for _ in row["answer"]]
    for (x, y, width, height), response in zip(golds, responses, strict=True):
        gold = (x / WIDTH, y / HEIGHT, (x + width) / WIDTH, (y + height) / HEIGHT)
        match = re.search(r"\[\s*([\d.]+),\s*([\d.]+),\s*([\d.]+),\s*([\d.]+)\s*\]", response)
        assert match is not None
        predicted = [float(number) for number in match.groups()]
        across = max(0.0, min(predicted[2], gold[2]) - max(predicted[0], gold[0]))
        down = max(0.0, min(predicted[3], gold[3]) - max(predicted[1], gold[1]))
        areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (predicted, gold)]
        overlaps.append(across * down / (sum(areas) - across * down))
    return {
        "mean_iou": fmean(overlaps),
        "accuracy_at_50": fmean(float(number >= 0.5) for number in overlaps),
    }


RULES: Mapping[str, Rule] = {
    "mmmu": mmmu,
    "mmbench": mmbench,
    "mmstar": mmstar,
    "mathvista": mathvista,
    "ai2d": ai2d,
    "chartqa": chartqa,
    "docvqa": docvqa,
    "pope": pope,
    "hallusionbench": hallusionbench,
    "mmvp": mmvp,
    "muirbench": muirbench,
    "realworldqa": realworldqa,
    "mmvet": mmvet,
    "refcoco": refcoco,
}
