"""The mini edition: drawn story images, annotations by three people, a recorded writer with faults.

In ``stories.json``, ``misunderstood`` is an image that each annotator describes as another story,
``torn`` a file that is no image. Three written questions have a right option far longer than the
others: one is dropped by hand, one replaced, one left to the blind run.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

from bench_assets.core.tables.source_folder import format_json, write_files
from bench_assets.suites.cogbench.construction.selection import question_id
from bench_assets.suites.cogbench.dataset.reasoning import KINDS, Chain
from bench_assets.suites.cogbench.dataset.source import (
    ANNOTATIONS,
    REFINEMENTS,
    REVIEWS,
    WRITER_RESPONSES,
)
from bench_assets.suites.cogbench.synthetic.tales import (
    LETTERS,
    ChainQuestion,
    Material,
    StoryReasoning,
    Tale,
    all_parts,
    as_source_question,
    choose_openings,
    draw_scene,
    draw_tales,
)

_DROPPED, _REPLACED, _SOLVED = "window-1", "window-2", "window-3"
_PLANTED = (_DROPPED, _REPLACED, _SOLVED)  # tales with a far too long right option
_PLANTED_KIND = "character"  # of the question that has it
_LONG_SUFFIX = ", as anybody can see at once"
_ALWAYS_BROKEN = 17  # index of the response that is broken at every try


def writer_response_lines(tales: Sequence[Tale], rng: Random) -> Iterator[str]:
    """Lines of writer_responses.jsonl.

    Every tenth response is broken at the first try, and one is broken at every try.
    """
    for index, (name, blocks) in enumerate(_writing_assignments(tales, rng)):
        repeated = blocks[:1] if index == 0 else []  # the first response repeats a question
        good = "\n\n".join([*blocks, *repeated])
        broken = _RESPONSE_FAULTS[index // 10 % len(_RESPONSE_FAULTS)](good)
        texts = [broken, good] if index % 10 == 4 else [good]
        if index == _ALWAYS_BROKEN:
            texts = [broken] * 3  # as often as a writer is asked
        for sample, text in enumerate(texts):
            line = {"question_id": name, "sample": sample, "text": text}
            yield json.dumps(line, ensure_ascii=False) + "\n"


def _writing_assignments(tales: Sequence[Tale], rng: Random) -> Iterator[tuple[str, list[str]]]:
    """The name of each request to the writer, and the text of each question that it writes."""
    for tale, kind in product(tales, KINDS):
        for reasoning in tale.reasonings:
            if reasoning.kind == kind.code and reasoning.questions:
                blocks = [
                    _question_block(question, rng) for question in _chain_questions(tale, reasoning)
                ]
                yield f"cogbench/writing/{tale.name}/{kind.code}", blocks


def refinements(tales: Sequence[Tale]) -> list[dict[str, object]]:
    """Drop one of the planted questions, and replace another one."""
    by_name = {tale.name: tale for tale in tales}
    (replacement,) = _planted_reasoning(by_name[_REPLACED]).questions
    note = "the right option is far longer than the others"
    return [
        {"question_id": _planted_question_id(by_name[_DROPPED]), "action": "drop", "note": note},
        {
            "question_id": _planted_question_id(by_name[_REPLACED]),
            "action": "replace",
            "note": note,
            "question": replacement.text,
            "options": list(replacement.options),
            "answer": LETTERS[replacement.right],
        },
    ]


def _chain_questions(tale: Tale, reasoning: StoryReasoning) -> list[ChainQuestion]:
    """The questions about a chain; in a planted one, the right option is far too long."""
    if tale.name in _PLANTED and reasoning.kind == _PLANTED_KIND:
        (question,) = reasoning.questions
        options = [
            text.removesuffix(".") + f"{_LONG_SUFFIX}." if index == question.right else text
            for index, text in enumerate(question.options)
        ]
        return [replace(question, options=tuple(options))]
    return list(reasoning.questions)


def _planted_reasoning(tale: Tale) -> StoryReasoning:
    return next(reasoning for reasoning in tale.reasonings if reasoning.kind == _PLANTED_KIND)


def _planted_question_id(tale: Tale) -> str:
    (question,) = _chain_questions(tale, _planted_reasoning(tale))
    return question_id(as_source_question(tale, _PLANTED_KIND, question))


def _question_block(question: ChainQuestion, rng: Random) -> str:
    """Write a question in the form of Figure 7, with its options in random order."""
    order = rng.sample(range(len(question.options)), len(question.options))
    lines = [
        f"{letter}. {question.options[index]}" for letter, index in zip(LETTERS, order, strict=True)
    ]
    right_letter = LETTERS[order.index(question.right)]
    return "\n".join([question.text, *lines, f"Correct Answer: [{right_letter}]"])


def _add_preamble(text: str) -> str:
    return f"Sure! Here are the questions:\n{text}"


def _remove_brackets(text: str) -> str:
    return text.replace("[", "").replace("]", "")


def _drop_option(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("C. "))


def _empty(_text: str) -> str:
    return ""


_RESPONSE_FAULTS = (_add_preamble, _remove_brackets, _drop_option, _empty)


_MATERIAL = Path(__file__).with_name("stories.json")
_EMPTY_SECTION = re.compile(r"\[[\w ]+\]: None\n")
_SINGLE_ENTITIES = ("ceiling", "shadow", "corner")  # one entity per annotator that only they list


def write(folder: Path, seed: int = 0) -> None:
    """Write the raw material of the mini edition: 24 images with a story, and two to be dropped.

    The same seed writes the same bytes. Files that already hold them are not touched.
    """
    rng = Random(seed)
    material = json.loads(_MATERIAL.read_text(encoding="utf-8"))
    dropped = {(name, _PLANTED_KIND) for name in (_DROPPED, _SOLVED)}
    tales = choose_openings(draw_tales(material, rng), dropped)
    files = _image_files(tales, material, rng)
    files[ANNOTATIONS] = format_json(_annotation_entries(tales, material))
    files[REVIEWS] = format_json(_reviews(tales))
    files[REFINEMENTS] = format_json(refinements(tales))
    files[WRITER_RESPONSES] = "".join(writer_response_lines(tales, rng)).encode()
    write_files(folder, files)


def _image_files(tales: Sequence[Tale], material: Material, rng: Random) -> dict[str, bytes]:
    """Bytes of every image by its path: the tales, the misunderstood image, and the torn files."""
    files = {
        f"images/{tale.name}.png": draw_scene(tale.background, tale.ground, all_parts(tale), rng)
        for tale in tales
    }
    misunderstood = material["misunderstood"]
    background = misunderstood["background"]
    files[f"images/{misunderstood['name']}.png"] = draw_scene(
        background, background, misunderstood["parts"], rng
    )
    torn = {f"images/{name}": text.encode() for name, text in material["torn"].items()}
    return files | torn


def _annotation_entries(tales: Sequence[Tale], material: Material) -> list[dict[str, str]]:
    """Entries of all images, three each; the torn files are annotated as the first tale."""
    annotators = material["annotators"]
    misunderstood = material["misunderstood"]
    entries: list[dict[str, str]] = []
    for number, tale in enumerate(tales):
        entries.extend(_tale_entries(number, tale, annotators))
    entries.extend(
        _annotation_entry(f"{misunderstood['name']}.png", annotator, annotation)
        for annotator, annotation in zip(annotators, misunderstood["annotations"], strict=True)
    )
    entries.extend(
        _annotation_entry(image, annotator, _annotation(tales[0], index))
        for image in material["torn"]
        for index, annotator in enumerate(annotators)
    )
    return entries


def _tale_entries(number: int, tale: Tale, annotators: Sequence[str]) -> Iterator[dict[str, str]]:
    """Three annotations; of each six images, two have one that breaks a rule of Figure 6."""
    for index, annotator in enumerate(annotators):
        text = _annotation(tale, index)
        # In the first of six images the first annotator, in the second the second one.
        if index == number % 6 and index < 2:
            text = _FAULTS[number % len(_FAULTS)](text)
        yield _annotation_entry(f"{tale.name}.png", annotator, text)


def _annotation(tale: Tale, annotator_index: int) -> str:
    """Write one annotator's text about an image, in the form of Figure 6."""
    reasonings = [
        reasoning for reasoning in tale.reasonings if annotator_index in reasoning.annotators
    ]
    listed_entities = [
        tale.child,
        *(entity for reasoning in reasonings for entity in reasoning.entities),
        _SINGLE_ENTITIES[annotator_index],
    ]
    lines = [f"[Entities]: [{', '.join(dict.fromkeys(listed_entities))}]"]
    sentences = [tale.openings[annotator_index]]
    for kind in KINDS:
        chains = [
            Chain((reasoning.clue,), reasoning.conclusions[annotator_index])
            for reasoning in reasonings
            if reasoning.kind == kind.code
        ]
        # Some people write brackets, some write one chain a line.
        chain_texts = [str(chain) if annotator_index == 2 else f"[{chain}]" for chain in chains]
        lines.append(f"[{kind.field}]: " + ("\n".join(chain_texts) or "None"))
        sentences += [text for chain in chains for text in (*chain.premises, chain.conclusion)]
    return "\n".join([*lines, f"[Description]: {' '.join(dict.fromkeys(sentences))}"])


def _add_bare_conclusion(text: str) -> str:
    return text.replace("[Event Reasoning]: ", "[Event Reasoning]: [Something happens.]\n")


def _add_double_arrow(text: str) -> str:
    return text.replace("[Location Reasoning]: ", "[Location Reasoning]: [A -> B -> C]\n")


def _drop_section(text: str) -> str:
    return _EMPTY_SECTION.sub("", text, count=1)


def _repeat_entity(text: str) -> str:
    return text.replace("[Entities]: [", "[Entities]: [floor, floor, ")


_FAULTS = (_add_bare_conclusion, _add_double_arrow, _drop_section, _repeat_entity)


def _reviews(tales: Sequence[Tale]) -> list[dict[str, object]]:
    """Reviews of entities of single annotators, and one review without effect."""
    return [
        {
            "image": f"{tale.name}.png",
            "field": "Entities",
            "text": _SINGLE_ENTITIES[index % len(_SINGLE_ENTITIES)],
            "accept": index % 3 > 0,
        }
        for index, tale in enumerate(tales[::2])
    ] + [{"image": "treat-1.png", "field": "Entities", "text": "unicorn", "accept": True}]


def _annotation_entry(image: str, annotator: str, annotation: str) -> dict[str, str]:
    return {"image": image, "annotator": annotator, "annotation": annotation}
