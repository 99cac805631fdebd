"""Judge reliability: trials, agreement with people, prompt injections."""
