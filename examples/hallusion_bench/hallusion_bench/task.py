"""HallusionBench as a task."""

from bench_assets.evaluation.task import RULES, ByModel, ByRules, Condition, Task
from hallusion_bench import measures, prompts, scoring

TASK = Task(
    name="hallusion_bench",
    title="HallusionBench",
    version=3,
    conditions={
        "main": Condition(prompt=prompts.main, about="The figure, if any, and the question alone.")
    },
    scorers={"strict": scoring.score_strictly, "official": scoring.score_officially},
    measures={
        "q_acc": measures.pair_accuracy,
        "f_acc": measures.figure_accuracy,
        "easy_acc": measures.easy_accuracy,
        "hard_acc": measures.hard_accuracy,
        "a_acc": measures.accuracy,
        "inconsistent": measures.inconsistent,
        "consistently_wrong": measures.consistently_wrong,
        "yes_difference": measures.yes_difference,
        "fp_ratio": measures.false_positive_ratio,
        "language_hallucination": measures.language_hallucination,
        "visual_illusion": measures.visual_illusion,
        "mixed": measures.mixed,
    },
    lower_is_better=frozenset(
        ["inconsistent", "consistently_wrong", "language_hallucination", "visual_illusion", "mixed"]
    ),
    judges={RULES: ByRules(scoring.judge_by_rules), "paper": ByModel(scoring.judge)},
    slices=measures.by_category_and_topic,
    counts={
        "all": 1129,
        "VD/figure": 80,
        "VD/illusion": 144,
        "VD/math": 108,
        "VD/ocr": 89,
        "VD/video": 170,
        "VS/chart": 206,
        "VS/map": 96,
        "VS/ocr": 81,
        "VS/table": 155,
    },
)
