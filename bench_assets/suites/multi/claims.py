"""What the paper says of models, as comparisons that can be tried."""

from bench_assets.core.schema.published_numbers import Cell, Claim, less

# Appendix B, Table 9; questions, of which each may have several points.
_N = {"all": 18_430, "NI": 18_430 - 7_489, "SI": 7_265, "MI": 224, "SA": 13_963, "FB": 1_432}
_ELITE = 500
_SEE = ("VisualGLM", "VisCPM", "Qwen-VL", "Gemini Vision", "GPT-4V")
_TABLE_6 = (("GPT-4/V", "GPT-4V"), ("Gemini/Vision", "Gemini Vision"))


def _cell(category: str = "all", condition: str = "main", **more: str) -> Cell:
    return Cell(
        task="multi",
        metric="score_ratio",
        category=category,
        condition=condition,
        n=_N[category] if condition != "elite" else _ELITE,
        source="MULTI, ",
        **more,  # type: ignore[arg-type]  # names of fields that are texts
    )


CLAIMS = (
    Claim(
        name="below_people",
        section="1; 5",
        sentence="Every model is far below people.",
        unprinted="this version of the paper prints no number of people",
        terms=less(_cell(model="Human"), _cell()),
    ),
    Claim(
        name="gpt_4v_leads",
        section="abstract; 4.4, Table 3",
        sentence="GPT-4V is ahead of every other model that sees.",
        models=_SEE,
        terms=less(_cell(model="GPT-4V"), _cell()),
    ),
    Claim(
        name="a_image_is_harder",
        section="4.4, Table 3",
        sentence="Questions with one image are harder than those with none.",
        models=_SEE,
        terms=less(_cell("NI"), _cell("SI")),
    ),
    Claim(
        name="more_images_are_harder",
        section="4.4, Table 3",
        sentence="Questions with several images are harder than those with one.",
        models=_SEE,
        terms=less(_cell("SI"), _cell("MI")),
    ),
    Claim(
        name="images_are_needed",
        section="4.5, Table 6",
        sentence="With its image every model does better at a question than without it.",
        models=_SEE,
        also_called=_TABLE_6,
        terms=less(_cell("SI"), _cell("SI", "no_image")),
    ),
    Claim(
        name="several_images_confuse",
        section="4.5, Table 6",
        sentence="Models that are shown images one by one do worse with several than with none.",
        models=("VisualGLM", "VisCPM", "Qwen-VL"),
        terms=less(_cell("MI", "no_image"), _cell("MI")),
    ),
    Claim(
        name="captions_beat_writing",
        section="4.5, Table 6",
        sentence="A caption in place of the image helps more than the writing that is in it.",
        also_called=_TABLE_6,
        terms=less(_cell("SI", "captions_for_images"), _cell("SI", "ocr_for_images")),
    ),
    Claim(
        name="knowledge_helps",
        section="4.7, Table 8",
        sentence="With a piece of knowledge every model does better.",
        terms=less(_cell(condition="with_knowledge"), _cell()),
    ),
    Claim(
        name="elite_is_hard",
        section="4.6, Table 7",
        sentence="The questions of MULTI-Elite are harder than all, for every model.",
        terms=less(_cell(), _cell(condition="elite")),
    ),
    Claim(
        name="blanks_are_hard",
        section="4.4, Table 4",
        sentence="Blanks are harder to fill in than one of several options is to choose.",
        terms=less(_cell("SA"), _cell("FB")),
    ),
)
