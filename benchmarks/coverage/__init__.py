"""How often statistics keep their promises, on random samples of populations with known truth."""
