"""How each of the fourteen tasks is built from the raw data set the paper names (section 3.2).

Every module has ``build(source, rng, ...)``: it reads one folder in that data set's own layout and
yields drafts of questions, and the reason for each entry that does not become one.
"""
