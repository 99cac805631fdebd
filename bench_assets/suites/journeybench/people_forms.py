"""The forms that people fill in when an edition of JourneyBench is built; sections 3.1 to 3.3."""

from bench_assets.people.forms import Field, Form, yes_or_no

N_FILTERING = 4  # annotators a picture, at the least (3.1)
N_WRITERS = 8  # of a picture (3.2)
N_VERIFIERS = 4  # of a caption (3.2)
N_CHECKING = 3  # of a statement, a look-alike or a question: the paper gives no number


FILTER = Form(
    name="journeybench/filter",
    title="JourneyBench: is the picture imaginary?",
    instructions="Say of each picture whether it is unusual, fictional and comprehensible. It is"
    " unusual if it shows what nobody meets in daily life, things that do not belong together, or"
    " something that catches the eye. It is fictional if it cannot be so in the real world. It is"
    " comprehensible if you can tell what it shows, and nothing in it is botched.",
    fields=(
        yes_or_no("unusual", "Is it unusual?"),
        yes_or_no("fictional", "Is it fictional?"),
        yes_or_no("comprehensible", "Is it comprehensible?"),
    ),
    about="section 3.1, image filtering",
)
WRITE = Form(
    name="journeybench/captions",
    title="JourneyBench: captions",
    instructions="Write one sentence on what is most unusual or fictional in the picture, so that"
    " somebody who does not see it can imagine it.",
    fields=(Field(name="caption", kind="text", label="Caption", most=300),),
    about="section 3.2",
)
VERIFY = Form(
    name="journeybench/caption_votes",
    title="JourneyBench: are the captions right?",
    instructions="Accept a caption if it is true of the picture and tells what is most unusual or"
    " fictional in it, not just what its writer feels about it.",
    fields=(yes_or_no("accepts", "Do you accept the caption?"),),
    about="section 3.2",
)
CONFLICTS = Form(
    name="journeybench/statements",
    title="JourneyBench: do the statements conflict with the picture?",
    instructions="The statement was written to mislead. Say yes if the picture shows that it is"
    " false, even if only in one detail. Say no if it is true of the picture, or may be.",
    fields=(yes_or_no("conflicts", "Does it conflict with the picture?"),),
    about="section 3.3, image-to-text retrieval",
)
ALIKE = Form(
    name="journeybench/look_alikes",
    title="JourneyBench: pictures that are alike, and yet not the same",
    instructions="Compare the second picture with the first one and its captions. They are alike if"
    " they share the subject, the composition, or both. The captions have to be wrong of the"
    " second one: otherwise it would be a right answer.",
    fields=(
        yes_or_no("alike", "Is it like the first picture, in subject or composition?"),
        yes_or_no("conflicts", "Is each caption wrong of the second picture?"),
    ),
    about="section 3.3, text-to-image retrieval",
)
TRIGGER = Form(
    name="journeybench/triggers",
    title="JourneyBench: questions that invite made-up answers",
    instructions="Accept a question if it does what its kind says, and each of its answers is"
    " right. False premises: it takes something for granted that is not in the picture. Visual"
    " challenge: it asks for a detail that is hard to see or to count. Insufficient context: the"
    " picture does not show what is asked for.",
    fields=(yes_or_no("accepts", "Do you accept the question with its answers?"),),
    about="HaloQuest, which section 3 takes its questions from",
)
