"""Rankings: the exact best documents of many scorers in one pass, and biases against documents that are everywhere."""
