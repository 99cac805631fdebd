"""Models behind servers: what is sent, what is read, when it is asked again."""
