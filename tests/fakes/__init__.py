"""Stand-ins for what an evaluation meets: servers, clusters, homes, models, small suites."""
