# ruff: noqa: SIM905
"""Rows for the words that agree or disagree, and for predicates that say the same or the opposite.

Rows are (question, response, the verdict that a person reads in it), or a response and the verdict.
"""

LAMP = "Is the lamp new?"
FILLING = (
    "is are am be been being was were do does did has have had will would can may should must "
    "he she it we they me him her us them my your his its our their s of to at by from in on "
    "into onto for with and that this there here yet able now already currently indeed really "
    "very quite just considered going clearly also good ok get one person behavior behaviour"
).split()
AGREEING = (
    "yes yeah yep yup indeed certainly absolutely definitely affirmative true".split()
    + ["That is true", "It is true", "In conclusion yes"]
    + [f"{how} yes" for how in ("Definitely", "Probably", "Likely", "Most likely")]
    + [f"I would {verb} yes" for verb in ("say", "think", "believe", "guess")]
    + ["My answer is yes", "It would be yes", "I'd say yes", "I must say yes", "I will say yes"]
    + ["I have to say yes", "I would have to say yes", "I say yes"]
    + [f"Certainly {who} do" for who in "it he she they you we i this that there".split()]
)
DISAGREEING = (
    "no nope nah negative unlikely untrue false".split()
    + ["Not at all", "Not yet", "That is false", "It is untrue", "My answer is no"]
    + [f"{how} not" for how in ("Of course", "Certainly", "Absolutely", "Definitely")]
    + ["Probably not", "Most likely not", "No, it has never"]
    + [f"No {who} do not" for who in "it he she they you we i this that there".split()]
)
BALL, HOLDS = "Does the man hold the red ball?", "The man with the dog has the {}."
PREDICATES = [
    *((LAMP, f"Certainly! {other}.", None)
      for other in ("I look", "We look", "Here it is", "Let us look", "Please look")),
    *((f"{be} the man with the dog tall?", "The man has the tall dog.", None)
      for be in ("Is", "Are", "Was", "Were")),
    ("Am I the man with the dog?", "The man has the dog.", None),
    *((BALL, f"This {be} the red ball.", True) for be in ("is", "was")),
    *(("Do the men hold the red ball?", f"They {be} with the red ball.", True)
      for be in ("are", "were")),
    *((BALL, f"He {has} the red ball.", True) for has in ("has", "had")),
    *((BALL, f"They {have} the red ball.", True) for have in ("have",)),
    *((BALL, f"He {did} get the red ball.", True) for did in ("did", "does")),
    (BALL, "They do get the red ball.", True),
    *((f"{modal} the man use the left lane?", f"He {modal} get into the left lane.", True)
      for modal in ("Can", "Will", "Should")),
    *((f"Can I {verb} the right turn by the tree?", "You can turn right.", True)
      for verb in ("make", "take")),
    *((f"Does {who} hold the ball?", "There is a ball.", None)
      for who in "i you he she it we they this that there".split()),
    ("Can it jump?", "It is able to jump.", True),
    ("Can it jump?", "It can jump.", True),
    ("Can it jump?", "It must jump.", True),
    ("Can it jump?", "It jumps.", None),
    ("May he park here?", "He can park here.", True),
    ("May he park here?", "He must park here.", True),
    ("May he park here?", "The car parks here.", None),
    ("May he park here?", "He parks here.", None),
    ("Will it jump?", "It will jump.", True),
    ("Will it jump?", "It is going to jump.", True),
    ("Will it jump?", "It jumps.", None),
    ("Would it jump?", "It would jump.", True),
    ("Would it jump?", "It will jump.", True),
    ("Would it jump?", "It jumps.", None),
    *(("Should you stop?", f"You {should} stop.", True)
      for should in ("should", "must", "have to")),
    ("Should you stop?", "You stop.", None),
    *(("Does it go up?", f"{who} go up.", None) for who in ("I", "We")),
    *((LAMP, f"I {verb} the lamp is new.", True)
      for verb in "think believe guess say assume see".split()),
    (LAMP, "I would say that the lamp is new.", True),
]  # fmt: skip
ELLIPSES = [
    *((f"{who} is.", True) for who in "it he she they you this that".split()),
    *(
        (f"It {does}.", True)
        for does in (
            "is are am was were do does did has have had can will would should must".split()
        )
    ),
    *((f"It is not{more}.", False) for more in ("", " yet")),
    *(("It will not be.", False), ("It has not been.", False)),
]
