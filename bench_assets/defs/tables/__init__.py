"""Assets over all models: leaderboard, audit, annotation, report."""
