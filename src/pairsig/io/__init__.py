"""What comes in and goes out: files, tables and their columns, errors, the console, pictures."""
