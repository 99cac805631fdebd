"""Assets over all models: leaderboard, claims, audit, annotation, report."""
