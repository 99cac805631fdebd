# ruff: noqa: E501
"""Synthetic files with the columns and types of each benchmark's card, and responses to them.

No row is of the benchmarks themselves. ``write`` gives a folder as the hub has it; the responses
are in the order of the rows. Responses are those that both the authors' rule and a reader read:
what the two read otherwise is listed in the documentation.
"""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

N = 100
WIDTH, HEIGHT = 40, 20
Rows = Sequence[Mapping[str, Any]]


class Layout(NamedTuple):
    """Rows of one benchmark by the file that they stand in, and a response to each row."""

    files: Mapping[str, Rows]
    responses: Sequence[str]

    @property
    def rows(self) -> list[Mapping[str, Any]]:
        """All rows, in the order of the files."""
        return [row for name in sorted(self.files) for row in self.files[name]]

    def write(self, folder: Path) -> None:
        """Write the files: Parquet, or CSV with the images beside."""
        for name, rows in self.files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".parquet":
                pq.write_table(pa.Table.from_pylist(list(rows)), file)
                continue
            with file.open("w", newline="") as table:
                writer = csv.DictWriter(table, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
            for row in rows:
                path = folder / "MMVP Images" / f"{row['Index']}.jpg"
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(image(int(row["Index"]))["bytes"])


def image(n: int) -> dict[str, Any]:
    """An image as ``datasets`` stores it; each n another one."""
    data = io.BytesIO()
    Image.new("RGB", (WIDTH, HEIGHT), (n % 256, n // 256, 7)).save(data, "PNG")
    return {"bytes": data.getvalue(), "path": None}


def letter(rng: Random, option: str) -> str:
    """A letter as models write it, the same for all rules."""
    return rng.choice(["{0}", "({0})", "{0}.", " {0} "]).format(option)


def right_or_not(rng: Random, right: str, others: Sequence[str]) -> str:
    """The right answer in three of five, else another one."""
    return right if rng.random() < 0.6 else rng.choice(others)


def mmmu(rng: Random) -> Layout:
    """Subjects in folders; options as a text in Python's notation; open questions among them."""
    files: dict[str, list[dict[str, Any]]] = {}
    responses = []
    for n in range(N):
        subject = ("Accounting", "Art", "Biology")[n * 3 // N]
        is_open = n % 10 == 0
        options = [] if is_open else [f"value {n}{a}" for a in "ABCD"]
        answer = ("['3.50', '7/2']" if n % 20 else f"{n}.25") if is_open else rng.choice("ABCD")
        row: dict[str, Any] = {
            "id": f"validation_{subject}_{n}",
            "question": "What is the value in <image 1>?",
            "options": str(options),
            "explanation": "",
            "image_1": image(n),
            **{f"image_{k}": None for k in range(2, 8)},
            "img_type": "['Tables']",
            "answer": answer,
            "topic_difficulty": "Easy",
            "question_type": "open" if is_open else "multiple-choice",
            "subfield": "Tables",
        }
        files.setdefault(f"{subject}/validation-00000-of-00001.parquet", []).append(row)
        files.setdefault(f"{subject}/dev-00000-of-00001.parquet", [row | {"id": "dev"}])
        right = "3.50" if is_open and n % 20 else answer
        response = right_or_not(rng, right, ["9.75"] if is_open else list("ABCD"))
        responses.append(response if is_open else letter(rng, response))
    rows = {name: one for name, one in files.items() if "validation" in name}
    kept = {name: one for name, one in files.items() if "dev" in name}
    order = [row for name in sorted(rows) for row in rows[name]]
    by_id = {
        f"validation_{('Accounting', 'Art', 'Biology')[n * 3 // N]}_{n}": r
        for n, r in enumerate(responses)
    }
    return _Mixed({**rows, **kept}, [by_id[row["id"]] for row in order])


class _Mixed(Layout):
    """A layout with rows of another split in it, which are not asked."""

    @property
    def rows(self) -> list[Mapping[str, Any]]:
        """The rows that are asked."""
        return [row for row in super().rows if row["id"] != "dev"]


def mmbench(rng: Random) -> Layout:
    """CircularEval: the same question four times, each with its options moved by one."""
    rows, responses = [], []
    for n in range(N // 4):
        texts = ["red", "green", "blue", "white"]
        right = rng.choice(texts)
        always = rng.random() < 0.7
        for turn in range(4):
            turned = texts[turn:] + texts[:turn]
            gold = "ABCD"[turned.index(right)]
            rows.append(
                {
                    "index": n + turn * 1_000_000,
                    "question": "Which colour?",
                    "hint": "It is a colour." if n % 2 else None,
                    "answer": gold,
                    **dict(zip("ABCD", turned, strict=True)),
                    "category": "color",
                    "image": image(n),
                    "source": "drawn",
                    "L2-category": "attribute",
                    "comment": "",
                    "split": "dev",
                }
            )
            chosen = gold if always else rng.choice("ABCD")
            responses.append(
                rng.choice([chosen, f"{chosen}. {turned['ABCD'.index(chosen)]}", f"({chosen})"])
            )
    return Layout({"en/dev-00000-of-00001.parquet": rows}, responses)


def mmstar(rng: Random) -> Layout:
    """Options inside the question."""
    rows, responses = [], []
    for n in range(N):
        gold = rng.choice("ABCD")
        rows.append(
            {
                "index": n,
                "question": f"Which one is it?\nOptions: A: the {n}, B: a cup, C: a mug, D: a jar",
                "image": image(n)["bytes"],
                "answer": gold,
                "category": "coarse perception",
                "l2_category": "image scene",
                "meta_info": {
                    "id": str(n),
                    "source": "drawn",
                    "split": "val",
                    "image_path": f"images/{n}.jpg",
                },
            }
        )
        chosen = right_or_not(rng, gold, "ABCD")
        responses.append(
            rng.choice(["{0}", "({0})", "{0}.", "The answer is {0}", "Option {0}"]).format(chosen)
        )
    return Layout({"mmstar.parquet": rows}, responses)


def mathvista(rng: Random) -> Layout:
    """Choices, whole numbers, numbers with a precision and lists in one file."""
    rows, responses = [], []
    for n in range(N):
        kind = ("multi_choice", "integer", "float", "list")[
            0 if n % 2 else 1 + n // 2 % 3 if n % 20 else 3
        ]
        choices = ["8", "12", f"{n} cups", "15"] if kind == "multi_choice" else None
        number = rng.randrange(2, 90)
        answer = {
            "multi_choice": "12",
            "integer": str(number),
            "float": f"{number / 7:.1f}",
            "list": "[0, 2, 1]",
        }[kind]
        rows.append(
            {
                "pid": str(n + 1),
                "question": "How much is it?",
                "image": f"images/{n}.jpg",
                "decoded_image": image(n),
                "choices": choices,
                "unit": "years" if kind == "integer" else None,
                "precision": 1.0 if kind == "float" else None,
                "answer": answer,
                "question_type": "multi_choice" if choices else "free_form",
                "answer_type": "text" if choices else kind,
                "metadata": {"category": "general-vqa", "language": "english"},
                "query": "Hint: ...",
            }
        )
        if kind == "multi_choice":
            responses.append(letter(rng, right_or_not(rng, "B", "ACD")))
        elif kind == "list":
            responses.append(right_or_not(rng, answer, ["[0, 1, 2]"]))
        else:
            near = {
                "integer": [f"{number}.7", str(number), f"{number + 1}"],
                "float": [answer, f"{number / 7:.4f}", f"{number / 7 + 0.2:.3f}"],
            }
            responses.append(rng.choice(near[kind]))
    return Layout({"data/testmini-00000-of-00001-725687bf7a18d64b.parquet": rows}, responses)


def ai2d(rng: Random) -> Layout:
    """Answers are places from 0."""
    rows, responses = [], []
    for n in range(N):
        place = rng.randrange(4)
        rows.append(
            {
                "question": f"What is {n}?",
                "options": ["leaf", "stem", "root", f"bud {n}"],
                "answer": str(place),
                "image": image(n),
            }
        )
        responses.append(letter(rng, right_or_not(rng, "ABCD"[place], "ABCD")))
    return Layout(
        {
            "data/test-00000-of-00002.parquet": rows[: N // 2],
            "data/test-00001-of-00002.parquet": rows[N // 2 :],
        },
        responses,
    )


def chartqa(rng: Random) -> Layout:
    """Numbers, percents and words."""
    rows, responses = [], []
    for n in range(N):
        number = rng.randrange(20, 400)
        answer = rng.choice([str(number), f"{number / 10}", f"{number}%", "Brazil", "Yes"])
        rows.append(
            {
                "type": "human_test" if n % 2 else "augmented_test",
                "question": f"What is {n}?",
                "answer": answer,
                "image": image(n),
            }
        )
        if answer[0].isdigit():
            value = float(answer.rstrip("%")) * rng.choice([1, 1.04, 0.96, 1.06, 0.9])
            responses.append(f"{value:.4f}{'%' if answer.endswith('%') else ''}")
        else:
            responses.append(rng.choice([answer, answer.lower(), "Chile", "No"]))
    return Layout({"data/test-00000-of-00001.parquet": rows}, responses)


def docvqa(rng: Random) -> Layout:
    """Several references, in capitals and not."""
    rows, responses = [], []
    for n in range(N):
        word = (
            "".join(rng.choice("abcdefghijkl ") for _ in range(rng.randrange(3, 12))).strip() or "a"
        )
        word = " ".join(word.split())
        rows.append(
            {
                "questionId": str(n),
                "question": f"What is written in line {n}?",
                "question_types": ["layout"],
                "image": image(n),
                "docId": n,
                "ucsf_document_id": "x",
                "ucsf_document_page_no": "1",
                "answers": [word, f"line {word}"],
                "data_split": "val",
            }
        )
        letters = list(word)
        for _ in range(rng.randrange(4)):
            letters[rng.randrange(len(letters))] = rng.choice("xyz")
        responses.append("".join(letters).upper() if n % 3 else "".join(letters))
    return Layout({"DocVQA/validation-00000-of-00001.parquet": rows}, responses)


def pope(rng: Random) -> Layout:
    """Yes or no, with the source of the image in a column of its own."""
    rows, responses = [], []
    for n in range(N):
        gold = rng.choice(["yes", "no"])
        rows.append(
            {
                "id": str(n),
                "question_id": str(n + 1),
                "question": "Is there a dog in the image?",
                "answer": gold,
                "image_source": f"COCO_val2014_{n}",
                "image": image(n),
                "category": ("adversarial", "popular", "random")[n % 3],
            }
        )
        say = right_or_not(rng, gold, ["yes", "yes", "no"])
        forms = {
            "yes": ["Yes", "yes.", "Yes, there is a dog in the image."],
            "no": ["No", "no.", "No, there is not.", "There is no dog in the image."],
        }
        responses.append(rng.choice(forms[say]))
    return Layout({"data/test-00000-of-00001.parquet": rows}, responses)


def hallusionbench(rng: Random) -> Layout:
    """Figures with several questions; the same question about an edited figure, or about none."""
    rows, responses = [], []
    for of in range(N // 4):
        category = "VS" if of % 2 else "VD"
        for figure in range(2):
            seen = figure or category == "VD"
            for question in range(2):
                gold = rng.choice("01")
                rows.append(
                    {
                        "category": category,
                        "subcategory": "chart" if of % 2 else "math",
                        "visual_input": str(figure + 1) if seen else "0",
                        "set_id": str(of),
                        "figure_id": str(figure),
                        "sample_note": "note",
                        "question_id": str(question),
                        "question": f"Is it {question}?",
                        "gt_answer_details": "It is.",
                        "gt_answer": gold,
                        "filename": f"./hallusion_bench/{category}/{of}_{figure}.png"
                        if seen
                        else None,
                        "image": image(2 * of + figure) if seen else None,
                    }
                )
                right = "Yes" if gold == "1" else "No"
                response = right if rng.random() < 0.8 else ("No" if right == "Yes" else "Yes")
                responses.append(rng.choice(["{0}", "{0}.", "{0}, it is so."]).format(response))
    order = sorted(range(len(rows)), key=lambda n: rows[n]["image"] is None)
    shown = [n for n in order if rows[n]["image"] is not None]
    files = {
        "data/image-00000-of-00001.parquet": [rows[n] for n in shown],
        "data/non_image-00000-of-00001.parquet": [rows[n] for n in order[len(shown) :]],
    }
    return Layout(files, [responses[n] for n in order])


def mmvp(rng: Random) -> Layout:
    """Pairs of rows; options in one cell."""
    rows, responses = [], []
    for n in range(1, N + 1):
        gold = rng.choice("ab")
        rows.append(
            {
                "Index": n,
                "Question": f"Are the wings of butterfly {(n + 1) // 2} open or closed?",
                "Options": "(a) Open (b) Closed",
                "Correct Answer": f"({gold})",
            }
        )
        chosen = gold if rng.random() < 0.7 else rng.choice("ab")
        text = {"a": "Open", "b": "Closed"}[chosen]
        responses.append(rng.choice([f"({chosen})", f"({chosen}) {text}", chosen.upper(), text]))
    return Layout({"Questions.csv": rows}, responses)


def muirbench(rng: Random) -> Layout:
    """Several images; options that are images."""
    rows, responses = [], []
    for n in range(N):
        shown = n % 2 == 0
        gold = rng.choice("ABC")
        options = (
            ["<image>", "<image>", "None of the choices provided"]
            if shown
            else ["above", "below", "beside"]
        )
        rows.append(
            {
                "idx": str(n),
                "task": "Image Retrieval",
                "image_relation": "Independent",
                "image_type": "Photography",
                "question": "<image>\nWhich is the same?"
                if shown
                else "<image> <image>\nWhere is it?",
                "options": options,
                "answer": gold,
                "image_list": [
                    image(n),
                    *([image(n + 1), image(n + 2)] if shown else [image(n + 1)]),
                ],
                "counterpart_idx": str(n + 1),
            }
        )
        responses.append(letter(rng, right_or_not(rng, gold, "ABC")))
    return Layout({"data/test-00000-of-00001.parquet": rows}, responses)


def realworldqa(rng: Random) -> Layout:
    """Options in the question, words and numbers."""
    rows, responses = [], []
    for n in range(N):
        kind = n % 3
        gold = [rng.choice("ABC"), str(rng.randrange(1, 9)), rng.choice(["Yes", "No"])][kind]
        question = [
            f"Where is car {n}?\nA. Left.\nB. Right.\nC. Ahead.\nPlease answer directly with only the letter of the correct option and nothing else.",
            f"How many cars are in lane {n}?\nPlease answer directly with a single word or number.",
            f"Is light {n} red?\nPlease answer directly with a single word or number.",
        ][kind]
        rows.append({"image": image(n), "question": question, "answer": gold})
        responses.append(
            right_or_not(rng, gold, [list("ABC"), list("123"), ["Yes", "No"]][kind])
            + rng.choice(["", "."])
        )
    return Layout({"data/test-00000-of-00001.parquet": rows}, responses)


def mmvet(rng: Random) -> Layout:
    """Open answers; the responses are the grades that a judge gives."""
    rows = [
        {
            "question_id": f"v1_{n}",
            "image": image(n),
            "question": f"What is x in {n}?",
            "answer": f"{n}<OR>x={n}",
            "image_source": "drawn",
            "capability": "ocr,math",
        }
        for n in range(N)
    ]
    return Layout(
        {"data/test-00000-of-00001.parquet": rows}, [f"{rng.randrange(11) / 10}" for _ in range(N)]
    )


def refcoco(rng: Random) -> Layout:
    """Boxes of several expressions each; boxes are answered between 0 and 1."""
    rows, responses = [], []
    for n in range(N // 2):
        x, y = rng.randrange(0, 20), rng.randrange(0, 10)
        width, height = rng.randrange(5, 20, 2), rng.randrange(4, 10)  # no overlap of a half
        rows.append(
            {
                "question_id": str(n),
                "image": image(n),
                "question": "Please carefully observe the area circled in the image.",
                "answer": [f"left cup {n}", f"the cup {n}"],
                "segmentation": [0.5, 1.5, 2.5],
                "bbox": [float(x), float(y), float(width), float(height)],
                "iscrowd": 0,
                "file_name": f"COCO_train2014_{n}.jpg",
            }
        )
        for _ in range(2):
            off = rng.choice([0, 0, 1, 2, 6])
            sides = [
                (x + off) / WIDTH,
                y / HEIGHT,
                (x + off + width) / WIDTH,
                (y + height) / HEIGHT,
            ]
            responses.append(f"[{', '.join(f'{min(side, 1.0):.4f}' for side in sides)}]")
    return Layout(
        {"data/val-00000-of-00001.parquet": rows, "data/testA-00000-of-00001.parquet": []},
        responses,
    )


LAYOUTS: Mapping[str, Callable[[Random], Layout]] = {
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
