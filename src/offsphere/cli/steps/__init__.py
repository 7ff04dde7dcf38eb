"""What commands do between their options and their tables: the library called, each step with its bar."""
