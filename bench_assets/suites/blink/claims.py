"""Claims of the BLINK paper as testable comparisons."""

from functools import partial

from bench_assets.core.schema.published_numbers import Cell, Claim, Term, less, mean_of
from bench_assets.suites.blink.dataset import PERCEPTION_TASKS

_TEST = sum(task.test for task in PERCEPTION_TASKS.values())
_VAL = sum(task.val for task in PERCEPTION_TASKS.values())
_SPECIALISTS = (
    *("Visual_Correspondence", "Relative_Depth", "Multi-view_Reasoning"),
    *("Semantic_Correspondence", "Forensic_Detection", "Relative_Reflectance"),
)
_SEVERAL_IMAGES = (
    *("Visual_Similarity", "Jigsaw", "Art_Style", "Functional_Correspondence"),
    *("Semantic_Correspondence", "Visual_Correspondence", "Multi-view_Reasoning"),
    "Forensic_Detection",
)
_SMALL = (
    *("MiniGPT-4-v2", "OpenFlamingo-v2", "InstructBLIP-7B", "InstructBLIP-13B"),
    *("LLaVA-internLM2-7B", "Yi-VL-6B", "LLaVA-v1.5-7B-xtuner", "LLaVA-v1.5-13B-xtuner"),
    *("CogVLM", "LLaVA-v1.5-7B", "LLaVA-v1.5-13B"),
)
_NO_MODELS = ("Human", "Random choice", "Specialist", "blink-specialists")

_cell = partial(Cell, task="blink", metric="accuracy")
_table_1 = partial(_cell, source="BLINK, Table 1 (test)", n=_TEST)
_people = _table_1(
    model="Human", here=_cell(model="Human", source="BLINK, Table 1 (validation)", n=_VAL)
)
_chance = _table_1(
    model="Random choice", exact=True, here=Cell(task="blink", metric="chance", exact=True)
)


def _on_test(condition: str, source: str) -> tuple[Cell, ...]:
    return tuple(
        _cell(category=name, condition=condition, source=source, n=PERCEPTION_TASKS[name].test)
        for name in _SEVERAL_IMAGES
    )


def _on_val(model: str = "", here: str = "") -> tuple[Cell, ...]:
    return tuple(
        _cell(
            category=name,
            model=model,
            source="BLINK, Table 2",
            n=PERCEPTION_TASKS[name].val,
            here=_cell(category=name, model=here) if here else None,
        )
        for name in _SPECIALISTS
    )


def _circles(drawn: str) -> Cell:
    return _cell(condition="circles", category=drawn)


CLAIMS = (
    Claim(
        name="below_people",
        section="abstract; 4.2, Table 1",
        sentence="Every model is far below people.",
        but=_NO_MODELS,
        terms=less(_people, _table_1()),
    ),
    Claim(
        name="near_chance",
        section="abstract; 4.2, Table 1",
        sentence="Even the best model is nearer to chance than to people.",
        but=_NO_MODELS,
        terms=(*mean_of(1.0, (_people, _chance)), Term(weight=-1.0, cell=_table_1())),
    ),
    Claim(
        name="small_models_guess",
        section="4.2, Table 1",
        sentence=(
            "Open models of up to 13B do about as well as guessing: on average less than five "
            "points above it."
        ),
        of="models on average",
        but=_NO_MODELS,
        models=_SMALL,
        margin=-0.05,
        terms=less(_chance, _table_1()),
    ),
    Claim(
        name="captions_are_not_enough",
        section="4.3, Figure 6",
        sentence="A model does better with the images than with captions in their place.",
        unprinted="Figure 6 is a drawing: the paper prints no number of captions on BLINK",
        terms=less(_cell(), _cell(condition="captions_for_images")),
    ),
    Claim(
        name="specialists_win",
        section="abstract; 4.3, Table 2",
        sentence="Specialists do better than any model, over the six tasks that have one.",
        but=_NO_MODELS,
        models=("Gemini Pro", "GPT-4V"),
        terms=(
            *mean_of(1.0, _on_val("Specialist", here="blink-specialists")),
            *mean_of(-1.0, _on_val()),
        ),
    ),
    Claim(
        name="one_image_of_several",
        section="appendix C.1, Table 4",
        sentence="Images side by side as one are worse than one by one, over eight tasks.",
        but=_NO_MODELS,
        terms=(
            *mean_of(1.0, _on_test("main", "BLINK, Table 1 (test)")),
            *mean_of(-1.0, _on_test("concatenated_images", "BLINK, Table 4")),
        ),
    ),
    Claim(
        name="red_circles",
        section="4.3, Figure 7",
        sentence="Red circles are better than gray ones.",
        unprinted="Figure 7 is a drawing: the paper prints no number of circles",
        terms=(
            *mean_of(1.0, tuple(_circles(f"{radius} px red") for radius in (5, 10, 15))),
            *mean_of(-1.0, tuple(_circles(f"{radius} px gray") for radius in (5, 10, 15))),
        ),
    ),
    Claim(
        name="circles_of_10_px",
        section="4.3, Figure 7",
        sentence="Circles of 10 px are better than smaller and larger ones.",
        unprinted="Figure 7 is a drawing: the paper prints no number of circles",
        terms=(
            Term(weight=1.0, cell=_circles("10 px red")),
            *mean_of(-1.0, (_circles("5 px red"), _circles("15 px red"))),
        ),
    ),
)
