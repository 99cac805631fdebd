"""Operations on a home folder, as the command line and Python run them."""
