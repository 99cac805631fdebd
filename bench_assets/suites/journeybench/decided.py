"""The tables of votes that tasks are examined by, and those of decisions that they wait for."""

from functools import partial

from bench_assets.core.rows import Rejection
from bench_assets.core.votes import votes_in
from bench_assets.people.suite_tables import DecisionTable, VoteTable
from bench_assets.suites.journeybench import decisions
from bench_assets.suites.journeybench import people_forms as forms
from bench_assets.suites.journeybench.decisions import (
    CaptionDecision,
    FilterDecision,
    LookAlikeDecision,
    StatementDecision,
)
from bench_assets.suites.journeybench.raw import (
    CRITERIA,
    CaptionVote,
    FilterVote,
    LookAlikeVote,
    StatementVote,
    TriggerVote,
)

_by_annotator = partial(votes_in, person="annotator")

PICTURE_VOTES = VoteTable(
    "journeybench/filter_votes",
    FilterVote,
    partial(_by_annotator, item=("picture",), criteria=CRITERIA),
)
CAPTION_VOTES = VoteTable(
    "journeybench/caption_votes",
    CaptionVote,
    partial(votes_in, person="verifier", item=("picture", "writer"), criteria=("accepts",)),
)
STATEMENT_VOTES = VoteTable(
    "journeybench/statement_votes",
    StatementVote,
    partial(_by_annotator, item=("picture", "statement"), criteria=("conflicts",)),
)
LOOK_ALIKE_VOTES = VoteTable(
    "journeybench/look_alike_votes",
    LookAlikeVote,
    partial(_by_annotator, item=("picture", "candidate"), criteria=("alike", "conflicts")),
)
TRIGGER_VOTES = VoteTable(
    "journeybench/trigger_votes",
    TriggerVote,
    partial(_by_annotator, item=("picture", "question"), criteria=("accepts",)),
)

PICTURES = DecisionTable(
    "journeybench/decisions", FilterDecision, forms.FILTER.name, decisions.open_pictures
)
CAPTIONS = DecisionTable(
    "journeybench/caption_decisions", CaptionDecision, forms.VERIFY.name, decisions.open_captions
)
STATEMENTS = DecisionTable(
    "journeybench/statement_decisions",
    StatementDecision,
    forms.CONFLICTS.name,
    decisions.open_statements,
)
LOOK_ALIKES = DecisionTable(
    "journeybench/look_alikes", LookAlikeDecision, forms.ALIKE.name, decisions.open_look_alikes
)
TRIGGERS = DecisionTable(
    "journeybench/rejections", Rejection, forms.TRIGGER.name, decisions.open_questions
)
