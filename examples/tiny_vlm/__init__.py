"""A small vision-language model that is trained on the CPU, from nothing."""
