"""HaloQuest: visual questions that invite hallucinations."""
