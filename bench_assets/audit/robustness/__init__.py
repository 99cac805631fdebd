"""Position bias: whether models answer alike in every order of the options."""
