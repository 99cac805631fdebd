"""What people are asked when an edition of JourneyBench is built."""

from bench_assets.core.rows import StoredImage
from bench_assets.people.suite_form import SuiteForm, TableOf
from bench_assets.suites.journeybench import people_forms as forms
from bench_assets.suites.journeybench.built import people_items as items
from bench_assets.suites.journeybench.built import people_rows as rows
from bench_assets.suites.journeybench.built.distractors import Statement
from bench_assets.suites.journeybench.built.look_alikes import LookAlike
from bench_assets.suites.journeybench.decisions import CaptionDecision, FilterDecision
from bench_assets.suites.journeybench.raw import (
    CaptionVote,
    FilterVote,
    GalleryPicture,
    LookAlikeVote,
    StatementVote,
    TriggerVote,
    WrittenCaption,
)
from bench_assets.suites.journeybench.writing import Written

_IMAGES = TableOf("journeybench/images", StoredImage)
_DECISIONS = TableOf("journeybench/decisions", FilterDecision)
_CAPTIONS = TableOf("journeybench/caption_decisions", CaptionDecision)

FILTER = SuiteForm(
    form=forms.FILTER,
    reads={"gallery": TableOf("journeybench/gallery", GalleryPicture), "images": _IMAGES},
    items=items.filter_items,
    row=FilterVote,
    to_rows=rows.filter_votes,
)
WRITE = SuiteForm(
    form=forms.WRITE,
    reads={"decisions": _DECISIONS, "images": _IMAGES},
    items=items.writing_items,
    row=WrittenCaption,
    to_rows=rows.written,
)
VERIFY = SuiteForm(
    form=forms.VERIFY,
    reads={
        "written": TableOf("journeybench/written_captions", WrittenCaption),
        "decisions": _DECISIONS,
        "images": _IMAGES,
    },
    items=items.caption_items,
    row=CaptionVote,
    to_rows=rows.caption_votes,
)
CONFLICTS = SuiteForm(
    form=forms.CONFLICTS,
    reads={
        "statements": TableOf("journeybench/statements", Statement),
        "caption_decisions": _CAPTIONS,
        "images": _IMAGES,
    },
    items=items.statement_items,
    row=StatementVote,
    to_rows=rows.statement_votes,
)
ALIKE = SuiteForm(
    form=forms.ALIKE,
    reads={
        "proposed": TableOf("journeybench/look_alike_proposals", LookAlike),
        "caption_decisions": _CAPTIONS,
        "images": _IMAGES,
    },
    items=items.look_alike_items,
    row=LookAlikeVote,
    to_rows=rows.look_alike_votes,
)
TRIGGER = SuiteForm(
    form=forms.TRIGGER,
    reads={"replies": TableOf("journeybench/trigger_replies", Written), "images": _IMAGES},
    items=items.trigger_items,
    row=TriggerVote,
    to_rows=rows.trigger_votes,
)
FORMS = (FILTER, WRITE, VERIFY, CONFLICTS, ALIKE, TRIGGER)
