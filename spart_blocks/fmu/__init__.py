"""FMUs of others, as blocks run them."""
