"""How many images, captions, statements and look-alikes are left, and how many are open."""

import dagster as dg

from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.suites.journeybench.assets.source import SUITE
from bench_assets.suites.journeybench.construction.filtering import BuildFunnelStep
from bench_assets.suites.journeybench.construction.filtering import funnel as count_steps
from bench_assets.suites.journeybench.decisions import (
    CaptionDecision,
    FilterDecision,
    LookAlikeDecision,
    StatementDecision,
)
from resources.tables.parquet import table_output

_HERE = AssetFolder(SUITE)


@dg.asset(
    ins=_HERE.ins("decisions", "caption_decisions", "statement_decisions", "look_alikes"),
    **_HERE.stage("distractors"),
)
def funnel(
    decisions: list[FilterDecision],
    caption_decisions: list[CaptionDecision],
    statement_decisions: list[StatementDecision],
    look_alikes: list[LookAlikeDecision],
) -> dg.Output[list[BuildFunnelStep]]:
    """Count what is left at each step, and what is open.

    One row: one step on the way from a gallery to captions and distractors.
    """
    rows = count_steps(decisions, caption_decisions, statement_decisions, look_alikes)
    return table_output(rows)
