"""Studies of the paper: visual prompts, human score, mistakes, profiles."""
