"""The task of CODIS."""

from bench_assets.annotation.tasks import DecisionTable, SourceTable
from bench_assets.evaluation.task import RULES, ByModel, ByRules, Condition, Task
from bench_assets.suites.codis import prompts, scoring
from bench_assets.suites.codis.answers import answer_form
from bench_assets.suites.codis.dataset import SubmissionVote
from bench_assets.suites.codis.votes import VoteDecision, open_submissions

DECISIONS = DecisionTable(
    name="codis/decisions",
    row=VoteDecision,
    task="codis/votes",
    votes=SourceTable("codis/first_votes", SubmissionVote),
    open_rows=open_submissions,
)

TASK = Task(
    name="codis",
    rejections="codis/rejections",
    title="CODIS",
    purpose=(
        "Ambiguous images, each asked about twice: only the context decides which answer is right."
    ),
    version=8,
    conditions={
        "main": Condition(
            prompt=prompts.main,
            about="Detailed instructions and chain of thought (Table 11), as in Tables 3 and 10.",
        ),
        "no_chain_of_thought": Condition(
            prompt=prompts.no_chain_of_thought,
            about="Detailed instructions, no chain of thought (Tables 11 and 13).",
        ),
        "no_detailed_instructions": Condition(
            prompt=prompts.no_detailed_instructions,
            about="Chain of thought, no detailed instructions (Tables 11 and 13).",
        ),
        "plain": Condition(
            prompt=prompts.plain,
            about="Neither detailed instructions nor chain of thought (Tables 11 and 13).",
        ),
        "no_context": Condition(
            prompt=prompts.no_context, about="No context (section 4.2, Table 4)."
        ),
        "captions_for_images": Condition(
            prompt=prompts.captions_for_images,
            about="Captions in place of the images (section 5.1, Table 5).",
            own_questions=True,
            needs=(
                "it needs captions of the images: put captions.jsonl beside data.json, or name "
                "a file (captions) or a model (captioner) in [suites.codis] of bench.toml"
            ),
            rejections="codis/captions_for_images/rejections",
        ),
    },
    scorers={"strict": scoring.score_strictly, "official": scoring.score_officially},
    measures={
        "acc_p": scoring.pair_accuracy,
        "acc_q": scoring.query_accuracy,
        "context_awareness": scoring.context_awareness,
    },
    judges={RULES: ByRules(scoring.judge_by_rules), "paper": ByModel(scoring.judge)},
    answer_form=answer_form,
    counts={
        "all": 706,
        "Location and Orientation": 168,
        "Temporal Information": 190,
        "Cultural Background": 94,
        "Attributes": 150,
        "Relationships": 104,
    },
    decided_in=(DECISIONS,),
)
