"""Read-only views of a home: leaderboard, explanations, comparisons, tables, exports."""
