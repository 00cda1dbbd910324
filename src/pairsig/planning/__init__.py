"""What to expect before there is a test set: how many segments a gain needs, and how gains differ between test sets."""
