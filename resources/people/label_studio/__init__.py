"""People who answer in a Label Studio: its server in an environment of its own, asked over HTTP."""
