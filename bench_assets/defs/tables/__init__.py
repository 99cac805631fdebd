"""Assets that no suite builds: leaderboard, report, annotation."""
