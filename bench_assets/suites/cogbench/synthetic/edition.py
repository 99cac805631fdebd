"""The mini edition: drawn story images, annotations by three people, a recorded writer with faults.

In ``stories.json``, ``misunderstood`` is an image that each annotator describes as another story,
``torn`` a file that is no image. Three written questions have a right option far longer than the
others: one is dropped by hand, one replaced, one left to the blind run.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
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
    SourceQuestion,
)
from bench_assets.suites.cogbench.synthetic.tales import (
    ChainQuestion,
    StoryReasoning,
    Tale,
    all_parts,
    choose_openings,
    draw_scene,
    tales,
)

_LETTERS = "ABCD"
_PLANTED = ("window-1", "window-2", "window-3")
_PLANTED_KIND = "character"
_LONG_SUFFIX = ", as anybody can see at once"


def responses(tales: Sequence[Tale], rng: Random) -> Iterator[str]:
    """Write the lines of the writer's responses: every tenth is broken at first, one stays so."""
    assignments = [
        (tale, kind.code, blocks)
        for tale in tales
        for kind in KINDS
        for reasoning in tale.told
        if reasoning.kind == kind.code
        and (blocks := [_block(a, rng) for a in _questions_of(tale, reasoning)])
    ]
    for number, (tale, code, blocks) in enumerate(assignments):
        good = "\n\n".join([*blocks, *blocks[:1]] if number == 0 else blocks)
        broken = _RESPONSE_FAULTS[number // 10 % len(_RESPONSE_FAULTS)](good)
        texts = [broken, good] if number % 10 == 4 else [good]
        name = f"cogbench/writing/{tale.name}/{code}"
        for sample, text in enumerate([broken] * 3 if number == 17 else texts):
            line = {"question_id": name, "sample": sample, "text": text}
            yield json.dumps(line, ensure_ascii=False) + "\n"


def refinements(tales: Sequence[Tale]) -> list[dict[str, object]]:
    """Drop one and replace one of the planted questions."""
    first, second = (_planted_chain(tale) for tale in tales if tale.name in _PLANTED[:2])
    note = "the right option is far longer than the others"
    return [
        {"question_id": _planted_question_id(*first), "action": "drop", "note": note},
        {
            "question_id": _planted_question_id(*second),
            "action": "replace",
            "note": note,
            **_replacement(*second),
        },
    ]


def _questions_of(tale: Tale, reasoning: StoryReasoning) -> list[ChainQuestion]:
    """The questions about a chain, with the planted fault."""
    if tale.name in _PLANTED and reasoning.kind == _PLANTED_KIND:
        (question,) = reasoning.questions
        options = [
            text.removesuffix(".") + f"{_LONG_SUFFIX}." if number == question.right else text
            for number, text in enumerate(question.options)
        ]
        return [replace(question, options=tuple(options))]
    return list(reasoning.questions)


def _planted_chain(tale: Tale) -> tuple[Tale, StoryReasoning]:
    return next((tale, reasoning) for reasoning in tale.told if reasoning.kind == _PLANTED_KIND)


def _planted_question_id(tale: Tale, reasoning: StoryReasoning) -> str:
    (question,) = _questions_of(tale, reasoning)
    return question_id(
        SourceQuestion(
            where="",
            image_id=tale.name,
            category=reasoning.kind,
            text=question.text,
            options=question.options,
            answer=_LETTERS[question.right],
        )
    )


def _replacement(_: Tale, reasoning: StoryReasoning) -> Mapping[str, object]:
    (question,) = reasoning.questions
    return {
        "question": question.text,
        "options": list(question.options),
        "answer": _LETTERS[question.right],
    }


def _block(chain_question: ChainQuestion, rng: Random) -> str:
    order = rng.sample(range(len(chain_question.options)), len(chain_question.options))
    lines = [f"{a}. {chain_question.options[at]}" for a, at in zip(_LETTERS, order, strict=True)]
    right = _LETTERS[order.index(chain_question.right)]
    return "\n".join([chain_question.text, *lines, f"Correct Answer: [{right}]"])


def _add_preamble(text: str) -> str:
    return f"Sure! Here are the questions:\n{text}"


def _remove_brackets(text: str) -> str:
    return text.replace("[", "").replace("]", "")


def _drop_option(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("C. "))


def _empty(text: str) -> str:
    return text[:0]


_RESPONSE_FAULTS = (_add_preamble, _remove_brackets, _drop_option, _empty)


_MATERIAL = Path(__file__).with_name("stories.json")
_EMPTY = re.compile(r"\[[\w ]+\]: None\n")
_SINGLE_ENTITIES = ("ceiling", "shadow", "corner")  # one entity per annotator that only they list


def write(folder: Path, seed: int = 0) -> None:
    """Write the raw material of the mini edition: 24 images with a story, and two to be dropped.

    The same seed writes the same bytes. Files that already hold them are not touched.
    """
    rng = Random(seed)
    material = json.loads(_MATERIAL.read_text(encoding="utf-8"))
    dropped = {(name, _PLANTED_KIND) for name in (_PLANTED[0], _PLANTED[2])}
    all_tales = choose_openings(tales(material, rng), dropped)
    people = material["annotators"]
    riddle = material["misunderstood"]
    files = {
        f"images/{tale.name}.png": draw_scene(tale.background, tale.ground, all_parts(tale), rng)
        for tale in all_tales
    }
    files[f"images/{riddle['name']}.png"] = draw_scene(
        riddle["background"], riddle["background"], riddle["parts"], rng
    )
    files |= {f"images/{name}": text.encode() for name, text in material["torn"].items()}
    files[ANNOTATIONS] = format_json(
        [
            entry
            for number, tale in enumerate(all_tales)
            for entry in _annotations(number, tale, people)
        ]
        + [
            _entry(f"{riddle['name']}.png", *annotation)
            for annotation in zip(people, riddle["annotations"], strict=True)
        ]
        + [
            _entry(name, person, _annotation(all_tales[0], annotator))
            for name in material["torn"]
            for annotator, person in enumerate(people)
        ]
    )
    files[REVIEWS] = format_json(_reviews(all_tales))
    files[REFINEMENTS] = format_json(refinements(all_tales))
    files[WRITER_RESPONSES] = "".join(responses(all_tales, rng)).encode()
    write_files(folder, files)


def _annotations(number: int, tale: Tale, people: Sequence[str]) -> Iterator[dict[str, str]]:
    """Three annotations; every third image has one that breaks a rule of Figure 6."""
    for annotator, name in enumerate(people):
        text = _annotation(tale, annotator)
        if number % 3 == annotator and annotator == number % 2:
            text = _FAULTS[number % len(_FAULTS)](text)
        yield _entry(f"{tale.name}.png", name, text)


def _annotation(tale: Tale, annotator: int) -> str:
    reasonings = [reasoning for reasoning in tale.told if annotator in reasoning.by]
    listed_entities = [
        tale.child,
        *(entity for reasoning in reasonings for entity in reasoning.things),
        _SINGLE_ENTITIES[annotator],
    ]
    lines = [f"[Entities]: [{', '.join(dict.fromkeys(listed_entities))}]"]
    sentences = [tale.openings[annotator]]
    for kind in KINDS:
        chains = [
            Chain((reasoning.clue,), reasoning.conclusions[annotator])
            for reasoning in reasonings
            if reasoning.kind == kind.code
        ]
        # Some people write brackets, some write one chain a line.
        written = [str(chain) if annotator == 2 else f"[{chain}]" for chain in chains]
        lines.append(f"[{kind.field}]: " + ("\n".join(written) or "None"))
        sentences += [text for chain in chains for text in (*chain.premises, chain.conclusion)]
    return "\n".join([*lines, f"[Description]: {' '.join(dict.fromkeys(sentences))}"])


def _keep_conclusion(text: str) -> str:
    return text.replace("[Event Reasoning]: ", "[Event Reasoning]: [Something happens.]\n")


def _double_arrow(text: str) -> str:
    return text.replace("[Location Reasoning]: ", "[Location Reasoning]: [A -> B -> C]\n")


def _drop_section(text: str) -> str:
    return _EMPTY.sub("", text, count=1)


def _repeat_entity(text: str) -> str:
    return text.replace("[Entities]: [", "[Entities]: [floor, floor, ")


_FAULTS = (_keep_conclusion, _double_arrow, _drop_section, _repeat_entity)


def _reviews(all_tales: Sequence[Tale]) -> list[dict[str, object]]:
    """Reviews of entities of single annotators, and one review without effect."""
    return [
        {
            "image": f"{tale.name}.png",
            "field": "Entities",
            "text": _SINGLE_ENTITIES[number % len(_SINGLE_ENTITIES)],
            "accept": number % 3 > 0,
        }
        for number, tale in enumerate(all_tales[::2])
    ] + [{"image": "treat-1.png", "field": "Entities", "text": "unicorn", "accept": True}]


def _entry(image: str, annotator: str, annotation: str) -> dict[str, str]:
    return {"image": image, "annotator": annotator, "annotation": annotation}
