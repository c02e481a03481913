"""Plain algorithms, to be read: the specification that the fast ones answer to."""
