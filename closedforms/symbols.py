"""The letters that formulas are written in, so that every family means the same by the same letter."""

import sympy

lam = sympy.Symbol("lambda", positive=True)
mu = sympy.Symbol("mu", positive=True)
offered = sympy.Symbol("a", positive=True)
m = sympy.Symbol("m", positive=True)
m2 = sympy.Symbol("m_2", positive=True)
cv2 = sympy.Symbol("c_S^2", nonnegative=True)
ca2 = sympy.Symbol("c_A^2", nonnegative=True)
cs2 = sympy.Symbol("c_S^2", nonnegative=True)
alpha = sympy.Symbol("alpha", positive=True)
Z = sympy.Symbol("Z", positive=True)
s0 = sympy.Symbol("s_0", positive=True)
s1 = sympy.Symbol("s_1", positive=True)
c = sympy.Symbol("c", integer=True, positive=True)
K = sympy.Symbol("K", integer=True, positive=True)
N = sympy.Symbol("N", integer=True, positive=True)
phases = sympy.Symbol("k", integer=True, positive=True)
j = sympy.Symbol("j", integer=True, nonnegative=True)
n = sympy.Symbol("n", integer=True, nonnegative=True)
x = sympy.Symbol("x", nonnegative=True)
