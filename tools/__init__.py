"""Tools of the repository; no package imports them."""
