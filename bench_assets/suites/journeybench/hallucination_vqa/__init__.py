"""HaloQuest: questions that lead a model to say what is not in the picture."""
