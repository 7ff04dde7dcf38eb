"""What is learned from: pairs, parts kept apart, hard negatives, views of a text."""
