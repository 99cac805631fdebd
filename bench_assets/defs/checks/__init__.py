"""Asset checks: tables, evaluations, expectations, regression, staleness."""
