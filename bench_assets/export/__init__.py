"""What was measured, in the forms of other projects: one file for each."""
