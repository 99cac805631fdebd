"""Gold by solving twice: proposed questions, votes on their keys, decisions, funnels."""
