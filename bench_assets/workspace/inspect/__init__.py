"""Views of results in a home: leaderboard, explanations, tables, exports, the report server."""
