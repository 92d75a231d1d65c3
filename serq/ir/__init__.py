"""The linked program and what is made of it, as plain frozen data that every back end reads."""
