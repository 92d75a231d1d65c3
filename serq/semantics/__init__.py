"""How a program runs: the transition function, sampled by the interpreter and enumerated by the explorer."""
