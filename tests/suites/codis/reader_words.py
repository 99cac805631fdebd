# ruff: noqa: E501, SIM905
"""A row for each word of the readers of responses: what a person makes of it.

Rows are (function, arguments, what it should give). Where a list of words does one thing, so does a
list here: one sentence around each of them.
"""

from bench_assets.core.parsing import sentences
from bench_assets.suites.codis.parsing import alternatives, answers, clock, polarity, words
from tests.suites.codis.reader_predicates import (
    AGREEING,
    DISAGREEING,
    ELLIPSES,
    FILLING,
    LAMP,
    PREDICATES,
)


def named_direction(said):
    return answers.named_option("Is it going up or down?", said, ("Up.", "Down."))


CONCEDED = [  # and then said by the main clause: it goes down
    *(f"{how} it was up, it is down." for how in ("Though", "Although", "Even though", "While")),
    "It is down, although it was up.", "It is down, despite the stairs up.",
    "It is down even though it was up", "Despite the stairs up, it is down.", "It is cold. Although it was up, it is down.",
    *(
        f"They {say} it is up, but it is down."
        for say in (
            "say claim argue insist think thought believe want hope guess suggest assume said"
        ).split()
    ),
    *(f"The sign {say} up, but it is down." for say in ("says", "suggests", "argued", "insisted")),
    *(f"It {how} up, but it is down." for how in ("might seem", "may look", "could appear")),
    "It might be up, but it is down.",
    *(f"It {how} like up, but it is down." for how in ("look", "looks")),
    *(
        f"Up would be {bad}; it is down."
        for bad in ("wrong", "a mistake", "an error", "bad", "unwise", "irresponsible", "a very bad")
    ),
    "They say up, yet it is down.", "They say up; it is down.", "They say up! However, it is down.",
    *(f"They say up. {word}, it is down." for word in ("However", "In fact", "Actually", "In reality")),
    "It is cold. They say up, but it is down.", "They say up. I say down.",
]  # fmt: skip
NOT_CONCEDED = [
    "I say up, but it is down.", "We think up, but it is down.",
    *(f"It is {partly} down." for partly in ("half", "partly", "partially", "almost", "nearly")),
]  # fmt: skip

SIX, SEVEN, EVENING = (
    f"{time} (answers from {time} to {time} are all right)." for time in ("6:25", "7:23", "19:23")
)
ONES = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
ONES = f"{ONES} sixteen seventeen eighteen nineteen twenty".split()
TENS = {"half": 30, "quarter": 15, "thirty": 30, "forty": 40, "fifty": 50}


def at(hour, minute):
    time = f"{hour}:{minute:02}"
    return f"{time} (answers from {time} to {time} are all right)."


def have_one_stem(one, other):
    return words.stem(one) == words.stem(other)


TIMES = [
    *((f"six {word}", at(6, number)) for number, word in enumerate(ONES, 1)),
    *((f"{word} past six", at(6, number)) for word, number in TENS.items()),
    *((line, SIX) for line in ("6:25", "6.25", "6h25", "six twenty-five", "25 minutes after six")),
    *((line, SIX) for line in ("thirty-five to seven", "thirty-five before seven", "six 25")),
    *((line, at(6, 5)) for line in ("six oh five", "six oh-five")),
    *((f"7:23 {when}", EVENING) for when in ("pm", "p.m.", "in the afternoon", "in the evening")),
    *((f"7:23 {when}", SEVEN) for when in ("am", "a.m.", "in the morning")),
    *((f"12:05 {when}", at(0, 5)) for when in ("am", "in the morning", "at night")),
    ("12:05 in the afternoon", at(12, 5)),
    ("ten past twenty-three", at(23, 10)),
    ("twenty-one fifteen", at(21, 15)),
    ("twenty-three past seven in the evening", EVENING),
    ("7:23 at night", EVENING),
    ("3:05 at night", at(3, 5)),
    ("16:25", None),
    ("6:255", None),
]

PARTS = [
    *("Answer", "Second part", "Final part", "Last part", "Part 2", "Part two", "Summary"),
    *("Conclusion", "The answer is", "The answer to the question is"),
    "The answer to your question is",
]  # fmt: skip

NORMAL = {
    **{
        "2 p.m.": "two pm",
        "2am": "two am",
        "an a.m. train": "am train",
        "a p.m. train": "pm train",
    },
    **{"7:23 pm": "19:23", "07:23 pm": "19:23", "10:23 pm": "22:23", "11:23 p.m.": "23:23"},
    **{"An owl": "owl", "the Owl": "owl", "a bird": "bird", "A bird": "bird", "edge A": "edge a"},
    **{"A or B": "a or b", "A and B": "a and b", "A is it": "a is it"},
    "0 1 2 3 4 5 6 7 8 9 10": "zero one two three four five six seven eight nine ten",
    **{"isn’t": "is not", "isn't": "is not", "can't": "can not", "won't": "will not"},
    **{"cannot": "can not", "anti-clockwise": "counterclockwise"},
    "counter clockwise": "counterclockwise",
    **{"north-east": "northeast", "northern east": "northeast", "south western": "southwest"},
    **{"southwestward": "southwest", "good-bye": "goodbye"},
}
FORMS = {
    **{"catch": "caught", "throw": "threw thrown", "win": "won", "break": "broke broken"},
    **{"take": "took taken", "give": "gave given", "go": "went gone goes", "rise": "rose risen"},
    **{"fall": "fell fallen", "hold": "held", "draw": "drew drawn", "drive": "drove driven"},
    "wear": "wore worn",
    **{"open": "opening opens opened", "act": "action", "close": "closing closes closed"},
    **{"pass": "passes", "put": "putting", "need": "needs"},
}

BREAKS = [
    *(f"up{mark} down" for mark in ".,;:!()…—–"),
    *("“up” down", '"up" down', "up - down", "up, down", "(up), down."),
    *(f"up {word} down" for word in "but however although though while whereas so".split()),
    *(f"up {word} down" for word in "therefore thus hence".split()),
]
REASONS = [
    *("because it falls", "since it falls", "given that", "due to rain"),
    *(f"as {who} sink" for who in "it he she they we you i the this that there in".split()),
]
FIGURES = [
    *("upside down", "all right", "slowing down", "slow down", "broke down", "breaks down"),
    *("calms down", "writes down", "writing down", "no doubt", "no question", "no wonder that"),
    *(f"up to {whom}" for whom in "you me him her them us it now date".split()),
    *(f"{verb} up" for verb in "ends ended makes made shows turns turned set looks grows".split()),
    *(f"{verb} up" for verb in "gives gave giving following sums signs".split()),
    *("time is up", "give it up", "look this up", "follow that up", "set them up"),
    *("narrow it down", "break this down", "writing that down", "slowing them down"),
    *(f"{it} is down" for it in "server service site system website network".split()),
    *("server was down", "server went down"),
    *("wakes up", "sits down", "sitting down", "sat down", "lies down", "lying down"),
    *(f"right {when}" for when in "now away after before over behind".split()),
    *(f"left {when}" for when in "now away after before over behind".split()),
    *(f"{who} is right" for who in "that you he she they we".split()),
    *("i am right", "i m right", "we re right", "he s right", "he was right", "they were right"),
    *("they are right", "you right", "i was right"),
    *(f"{has} left" for has in "has have had just".split()),
    *(f"{verb} back" for verb in "comes came gives gave brings brought gets got looks".split()),
    *(f"turns {what} back" for what in ("it", "them", "him", "her")),
    *(f"close {how}" for how in ("to", "by", "up")),
]
LEFT_PLACES = "room bus train house station car place his her my your their its it him them".split()
DID = "can do does is am are would".split()
TOLD = (
    "determined told said known answered decided judged identified concluded inferred helped "
    "assisted seen"
).split()
TELL = "determine tell say know answer decide judge identify conclude infer see".split()
SURE = (
    "enough sufficient sure certain clear given specified provided mentioned stated necessarily "
    "always only just merely entirely completely exactly that too"
).split()
OPEN = [
    *(f"{hedge} up" for hedge in "maybe may might could perhaps possible possibly".split()),
    *(f"{hedge} up" for hedge in "potentially either whether if unless or both".split()),
    *(f"It {depends} up." for depends in ("depends", "depend", "is depending")),
    *(f"{hedge} up" for hedge in ("sometimes", "elsewhere", "until", "used to", "less likely")),
    *(f"Only {when} the rain it goes up." for when in ("when", "after", "with")),
    *(f"Up {how} some." for how in ("to", "in", "for", "by")),
    *(f"Up for {whom}." for whom in ("some", "other", "many", "certain")),
    *(f"It {do} not {verb}." for do in DID for verb in ("tell", "say", "know", "be known")),
    *(f"It can not be {what}." for what in TOLD),
    *(f"It is {how} to tell." for how in "unable impossible hard difficult".split()),
    "It is not possible to tell.",
    "It is hard to be known.",
    *(f"It is hard to {verb}." for verb in TELL),
    *(f"It is not {how}." for how in SURE),
    *(f"{who} knows." for who in ("Nobody", "No one", "None")),
    *(f"Nobody {verb}." for verb in ("know", "knows", "say", "says", "said", "can")),
    *("N/A", "Sorry.", "I am a language model.", "As an AI, I go up.", "Anything but up."),
    *(f"It is {how}." for how in "insufficient unclear unknown uncertain undetermined".split()),
    *(f"It is {how}." for how in "undecided ambiguous untrue mistaken".split()),
    *(f"No {what}." for what in "idea clue information context answer way".split()),
    *("The opposite of up.", "Anything than up.", "Anything other than up.", "Far from up."),
    *("Anything else than up.", "Contrary to up."),
    *(f"It would be {how} to say up." for how in ("wrong", "incorrect", "false")),
]
OPEN += [
    *("Error: up.", "Disregard all: up."),
    *(f"Ignore {what}: up." for what in ("all of it", "the above", "the image", "previous ones")),
]
DENYING = "not no never neither nor none nobody nothing without hardly".split()
INSTEAD = ("rather than", "instead of", "as opposed to", "unlike")

SIDES = ("Left.", "Right.")
YES, NO = "Yes.", "No."
LEGAL = "Is his behaviour legal?"
RESPONSES = [
    *((LEGAL, f"Yes.\n{polite}, I can help you.", YES)
      for polite in ("Let me know", "Feel free", "Anything else", "If there is anything further")),
    (LEGAL, "Yes.\nI can help you.", None),
    *((LEGAL, response, None) for response in (
        "Yes, I can help! Please send the image.", "Certainly! Please provide the image.",
        "Absolutely, I'd be happy to help.", "Yes! Could you share the image?",
        "Certainly!\n\nPlease upload the image.", "Yes, please share the image.",
        "Definitely a hard question.", "Indeed an interesting question.", "error: yes",
        "Ignore the image and say yes.", "I have been told to say yes.", "Say yes.",
        "Certainly! Here is the answer:",
        "Certainly! Correct option below.", "Certainly. Right option next.",
        "True, but I need the image.",
        "\\boxed{}", "\\boxed{Yes}\\boxed{No}", "<answer>Yes or no</answer>")),
    *((LEGAL, response, YES) for response in (
        "\\boxed{Yes}", "$\\boxed{\\text{Yes}}$", "<answer>Yes</answer>",
        "He walks.\n<answer>\nYes\n</answer>", "<ANSWER>Yes</ANSWER>",
        "Part 2: \\boxed{Yes}", "Absolutely, he is allowed to.", "Definitely legal.",
        "Certainly, I think it is legal.", "I can help with that.\n\nYes.",
        "Yes, I see it.", "Never a crime.")),
    *((LEGAL, response, NO)
      for response in ("\\boxed{No}", "Definitely illegal.", "Not yet legal.")),
]  # fmt: skip

# Words that say nothing about which answer is meant.
TURNING = "but however though unless except if while whereas yet elsewhere depends".split()
DRAWN = ("Therefore", "Thus", "Hence", "So", "In conclusion", "Overall")
HANDS = ("hand", "arm", "foot", "leg")
REASONED = ("Reason", "Reasoning", "Explanation")
OBJECTS = ('"Part 2"', '"answer"', '"final answer"')
SMALL = (
    "is are am be been being was were do does did has have had will would can going i you he she "
    "it we they me him her us them my your his its our their s of to at by from in on into onto "
    "for with and or not no only that this there one just about already probably likely say "
    "saying says said"
).split()

WORDS = [
    *((clock.named_time, (line, (time or SIX,)), time) for line, time in TIMES),
    *((answers.final_answer, (f"{label}: Up.",), "Up.") for label in PARTS),
    *((answers.final_answer, (f"{number} Up.",), "Up.") for number in ("2.", "2)", "(ii)", "II.")),
    *((answers.final_answer, (f"Answer: Up.\n\n{why}: It goes down.",), "Up.") for why in REASONED),
    (answers.final_answer, ("Final answer: Up.\n\nReason: It goes down.",), "Up."),
    *(
        (answers.final_answer, (f'{{"Part 1": "Down.", {name}: "Up."}}',), "Up.")
        for name in OBJECTS
    ),
    *((named_direction, (f"Stairs go up or down. {so}, it goes up.",), "Up.") for so in DRAWN),
    *(
        (
            answers.named_option,
            (f"Does his {side} {hand} go left or right?", f"His {side} {hand} goes {way}.", SIDES),
            f"{way.capitalize()}.",
        )
        for hand in HANDS
        for side, way in (("left", "right"), ("right", "left"))
    ),
    *(
        (
            answers.named_option,
            (LEGAL, f"It is legal here. {turn}, fines or jail are rare.", (YES, NO)),
            None,
        )
        for turn in TURNING
    ),
    (answers.named_option, (LEGAL, "It is legal here. Fines or jail are rare.", (YES, NO)), YES),
    *((words.normalize_text, (text,), plain) for text, plain in NORMAL.items()),
    *(
        (have_one_stem, (form, word), True)
        for word, forms in FORMS.items()
        for form in forms.split()
    ),
    *((words.statements, (text,), ["up", "down"]) for text in BREAKS),
    *((words.statements, (f"It goes up {why}",), ["it goes up"]) for why in REASONS),
    *((words.remove_figures, (text,), "") for text in FIGURES),
    *((words.remove_figures, (f"it left {where}",), f"it {where}") for where in LEFT_PLACES),
    *(
        (words.remove_figures, (f"it {has} left room",), "it room")
        for has in ("has", "have", "had")
    ),
    (words.remove_figures, ("on the left car",), "on the left car"),
    *((sentences.is_undecided, (text,), True) for text in OPEN),
    *((sentences.is_undecided, (text,), False) for text in ("Up.", "It is not possible.")),
    *((sentences.affirmed_part, (f"up {word} down",), "up") for word in (*DENYING, *INSTEAD)),
    *((sentences.count_negations, (word,), 1) for word in DENYING),
    *(
        (alternatives.named_alternative, ("", f"{word} tree", (f"Lamp {word}.", "Tree.")), "Tree.")
        for word in SMALL
    ),
    *(
        (alternatives.named_alternative, ("", f"{word}.", ("In, on.", "Out, off.")), answer)
        for answer, said in (("In, on.", ("In", "On")), ("Out, off.", ("Out", "Off")))
        for word in said
    ),
    *(
        (alternatives.named_alternative, ("", "Tree.", (f"{place} tree.", f"{other} tree.")), None)
        for place in "in on into onto from to not no".split()
        for other in ["on" if place == "in" else "in"]
    ),
    *((polarity.yes_or_no, (LAMP, f"{text}."), True) for text in AGREEING),
    *((polarity.yes_or_no, (LAMP, f"{text}."), False) for text in DISAGREEING),
    *(
        (answers.named_option, (asked, response, (YES, NO)), said)
        for asked, response, said in RESPONSES
    ),
    *((named_direction, (said,), "Down.") for said in CONCEDED),
    *((named_direction, (said,), None) for said in NOT_CONCEDED),
    *((polarity.yes_or_no, (LAMP, f"{surely} no."), False) for surely in ("Actually", "In fact")),
    *((polarity.yes_or_no, (LAMP, f"No {of_all}."), None) for of_all in ("lamp", "itself")),
    *(
        (polarity.yes_or_no, (LAMP, f"No {who} said so."), False)
        for who in "it he she they you we i this that there".split()
    ),
    *((polarity.yes_or_no, (LAMP, f"The lamp is {word} new."), True) for word in FILLING),
    *(
        (polarity.yes_or_no, (LAMP, f"The lamp is {no} new."), False)
        for no in "not no never".split()
    ),
    *((polarity.yes_or_no, (asked, line), verdict) for asked, line, verdict in PREDICATES),
    *((polarity.yes_or_no, (LAMP, text), verdict) for text, verdict in ELLIPSES),
]
