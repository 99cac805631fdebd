"""What the APIs differ in: how a request is written, and how a reply is read."""
