"""Terminal views of results: leaderboard, explanations, audits, reproductions."""
