"""What the paper says of models, as comparisons that can be tried."""

from functools import partial

from bench_assets.core.schema.published_numbers import Cell, Claim, less

_OPEN = (
    *("InstructBLIP-7B", "Qwen-VL-Chat", "LLaVA-v1.5-7B", "LLaVA-v1.5-13B"),
    *("mPLUG-Owl-2", "ShareGPT4V-7B", "ShareGPT4V-13B"),
)

# Section 2.4 and Table 1: entities, chains of reasoning, questions.
_recognition = partial(
    Cell,
    task="cogbench/description",
    metric="recognition",
    table="recognition",
    source="CogBench, Table 2",
    n=2_670,
)
_told = partial(Cell, task="cogbench/description", source="CogBench, Table 3")
_cognition = partial(_told, metric="cognition", n=2_245)
_chosen = partial(Cell, task="cogbench/vqa", metric="accuracy", source="CogBench, Table 5", n=2_577)

CLAIMS = (
    Claim(
        name="below_people",
        section="abstract; 3.4, Table 5",
        sentence="Every model chooses fewer right answers than people.",
        terms=less(_chosen(model="Human"), _chosen()),
    ),
    Claim(
        name="stories_stay_untold",
        section="3.3.2, Table 3",
        sentence="Every model tells less of the reasoning in an image than its annotators.",
        terms=less(_cognition(model="Oracle"), _cognition()),
    ),
    Claim(
        name="recognition_above_cognition",
        section="3.3, Tables 2 and 3",
        sentence="Models name more of what is in an image than of what it means.",
        terms=less(_recognition(), _cognition()),
    ),
    Claim(
        name="places_are_easiest",
        section="3.3.2, Table 3",
        sentence="Every model is better at where a story happens than at the rest of it.",
        terms=less(_told(metric="cognition_location", n=179), _cognition()),
    ),
    Claim(
        name="events_are_not_told",
        section="3.3.2, Table 3",
        sentence="Every open model is worse at events than at the rest of a story.",
        models=_OPEN,
        terms=less(_cognition(), _told(metric="cognition_event", n=701)),
    ),
    Claim(
        name="what_comes_next_is_not_told",
        section="3.3.2, Table 3",
        sentence="Every open model is worse at what happens next than at the rest of a story.",
        models=_OPEN,
        terms=less(_cognition(), _told(metric="cognition_next_event", n=107)),
    ),
    Claim(
        name="places_are_easiest_to_choose",
        section="3.4, Table 5",
        sentence="With options, too, every model is better at places than at the rest.",
        terms=less(_chosen(category="Location", n=220), _chosen()),
    ),
    Claim(
        name="events_are_hard_to_choose",
        section="3.4, Table 5",
        sentence="With options, too, models are on average worse at how events are related.",
        of="models on average",
        terms=less(_chosen(), _chosen(category="Event Relationship", n=402)),
    ),
    Claim(
        name="gpt_4_leads",
        section="3.3.2, Table 3",
        sentence="The weaker GPT-4 is ahead of the best open model.",
        terms=less(_cognition(model="GPT-4V"), _cognition(model="Qwen-VL-Chat")),
    ),
)
