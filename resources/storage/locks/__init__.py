"""Table locks and leases."""
