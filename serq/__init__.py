"""serQ: a deployment that serves sessions, written as a program, simulated and solved exactly."""

__version__ = "0.1.0"
