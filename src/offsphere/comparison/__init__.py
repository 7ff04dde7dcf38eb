"""Which scorer is best on a task: candidates, their held-out values with intervals and tests, and the choice."""
