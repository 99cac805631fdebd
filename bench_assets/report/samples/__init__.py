"""The samples of the report: every question with its pictures, and what each model said of it."""
