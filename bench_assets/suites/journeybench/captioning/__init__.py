"""One sentence about what is unusual in a picture, compared with people's (section 3.2)."""
