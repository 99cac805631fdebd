"""The built route of CODIS: submissions, votes, selection (section 3.4)."""
