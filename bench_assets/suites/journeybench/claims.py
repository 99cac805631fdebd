"""What the paper says of models, as comparisons that can be tried."""

from functools import partial

from bench_assets.core.schema.published_numbers import Cell, Claim, Term, less

_NO_MODELS = ("Human", "Random Baseline")
_LEADERBOARD = "JourneyBench, leaderboard"
# Neither a GPT nor a LLaVA (section 4.3).
_OTHERS = (
    *("VILA-Llama3-8B", "Mantis-Idefics2-8B", "BEiT3 Large-0.7B", "Blip-2-FlanXXL-12B"),
    *("CogVLM v2 (Llama3)-19B", "InstructBLIP-Flan-T5-XXL-12B", "MiniGPT4-Vicuna13B"),
    *("mPLUG-Owl v2-9.2B", "MiniGPT4-Llama2-7B", "mPLUG-Owl-7.2B"),
)

_found = partial(Cell, task="journeybench/retrieval", source="JourneyBench, Table 1", n=1_000)
_mcot = partial(Cell, task="journeybench/mcot", metric="accuracy", source=_LEADERBOARD, n=2_599)
# The paper does not count these questions; the smaller of the two releases has so many.
_several = partial(
    Cell,
    task="journeybench/multi_image_vqa",
    metric="accuracy",
    source="JourneyBench, Table 3",
    n=179,
)
_triggered = partial(
    Cell, task="journeybench/hallucination_vqa", metric="accuracy", source=_LEADERBOARD, n=608
)


def _distractors_hurt(metric: str) -> tuple[Term, ...]:
    return less(_found(metric=metric, condition="without_distractors"), _found(metric=metric))


CLAIMS = (
    Claim(
        name="distractors_hurt_texts",
        section="4.3, Table 1",
        sentence="Distractors of their own make texts harder to find, for every model.",
        terms=_distractors_hurt("text_r@1"),
    ),
    Claim(
        name="distractors_hurt_images",
        section="4.3, Table 1",
        sentence="Distractors of their own make images harder to find, for every model.",
        terms=_distractors_hurt("image_r@1"),
    ),
    Claim(
        name="co_reference_below_people",
        section="4.3, Figure 5",
        sentence="Every model is below people where text and image must be read together.",
        but=_NO_MODELS,
        terms=less(_mcot(model="Human"), _mcot()),
    ),
    Claim(
        name="co_reference_is_hardest",
        section="4.3, Figure 5",
        sentence="There, models other than the GPTs and LLaVAs are on average below 10 %.",
        of="models on average",
        but=_NO_MODELS,
        models=_OTHERS,
        margin=-0.1,
        terms=(Term(weight=-1.0, cell=_mcot()),),
    ),
    Claim(
        name="images_are_needed",
        section="4.3",
        sentence="Without the image, a model solves far fewer of these problems.",
        but=_NO_MODELS,
        terms=less(
            _mcot(source="JourneyBench, section 4.3"),
            _mcot(source="JourneyBench, section 4.3", condition="language_only"),
        ),
    ),
    Claim(
        name="several_images_below_people",
        section="4.3, Table 3",
        sentence="Every model is below people where several images must be read together.",
        but=_NO_MODELS,
        terms=less(_several(model="Human"), _several()),
    ),
    Claim(
        name="sums_over_images_are_hard",
        section="4.3, Table 3",
        sentence="Of these questions, sums are on average the harder ones.",
        of="models on average",
        but=_NO_MODELS,
        terms=less(_several(n=0), _several(category="Arithmetic Reasoning", n=0)),
    ),
    Claim(
        name="captions_are_poor",
        section="4.3, Table 2",
        sentence="Captions of imaginary images are poor: on average, CIDEr is below 0.3.",
        of="models on average",
        but=_NO_MODELS,
        margin=-0.3,
        terms=(
            Term(
                weight=-1.0,
                cell=Cell(
                    task="journeybench/captioning", metric="cider", source="JourneyBench, Table 2"
                ),
            ),
        ),
    ),
    Claim(
        name="triggers_work",
        section="abstract; 4.3",
        sentence="Questions that tempt to invent are answered worse by every model than by people.",
        but=_NO_MODELS,
        terms=less(_triggered(model="Human"), _triggered()),
    ),
)
