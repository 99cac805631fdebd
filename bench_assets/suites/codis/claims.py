"""What the paper says of models, as comparisons that can be tried."""

from functools import partial

from bench_assets.core.schema.published_numbers import Cell, Claim, less

PAIRS, QUERIES = 353, 706
_CAPTIONED = 151  # pairs of the 302 queries whose images can be told in words (section 5.1)

_pairs = partial(Cell, task="codis", metric="acc_p", source="CODIS, Table 3", n=PAIRS)
_queries = partial(Cell, task="codis", metric="acc_q", source="CODIS, Table 3", n=QUERIES)
_aware = partial(Cell, task="codis", metric="context_awareness", source="CODIS, Table 3", n=PAIRS)
_varies = partial(
    Cell,
    task="codis",
    metric="output_variability",
    condition="no_context",
    table="output_variability",
    source="CODIS, Table 4",
    n=QUERIES,
)
_captioned = partial(
    Cell,
    task="codis",
    metric="acc_p",
    category="with caption",
    source="CODIS, Table 5",
    n=_CAPTIONED,
)

CLAIMS = (
    Claim(
        name="below_people",
        section="abstract; 4.2, Table 3",
        sentence="Every model falls short of people, pair by pair.",
        terms=less(_pairs(model="Human"), _pairs()),
    ),
    Claim(
        name="half_a_pair",
        section="4.2, Table 3",
        sentence=(
            "Models often get one query of a pair right and not the other: accuracy by queries is "
            "further above accuracy by pairs than people's is."
        ),
        terms=(
            *less(_queries(), _pairs()),
            *less(_pairs(model="Human"), _queries(model="Human")),
        ),
    ),
    Claim(
        name="context_goes_unseen",
        section="4.2, Table 3",
        sentence="Models answer alike where only the context differs, far more often than people.",
        terms=less(_aware(model="Human"), _aware()),
    ),
    Claim(
        name="context_may_go",
        section="4.2, Table 4",
        sentence="Without the context, models change fewer of their answers than people.",
        terms=less(_varies(model="Human"), _varies()),
    ),
    Claim(
        name="captions_beat_images",
        section="5.1, Table 5",
        sentence="Every model gets more pairs right from captions than from the images.",
        terms=less(
            _captioned(
                condition="captions_for_images",
                here=_pairs(condition="captions_for_images"),
            ),
            _captioned(here=_pairs()),
        ),
    ),
    Claim(
        name="relationships_are_easiest",
        section="4.2, Table 3",
        sentence="On average, models are better at relationships than at the other contexts.",
        of="models on average",
        terms=less(_pairs(category="Relationships", n=52), _pairs()),
    ),
    Claim(
        name="cultures_are_hard",
        section="4.2, Table 3",
        sentence="On average, models are worse at cultural background than at the other contexts.",
        of="models on average",
        terms=less(_pairs(), _pairs(category="Cultural Background", n=47)),
    ),
    Claim(
        name="behind_an_api",
        section="4.2, Table 3",
        sentence="The weaker model behind an API is ahead of the best open one.",
        terms=less(_pairs(model="Gemini"), _pairs(model="mPLUG-Owl-2")),
    ),
)
