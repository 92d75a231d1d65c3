"""The eigenvalues of a generator next to 0, with how far they may be off.

Chains of a few states have them enclosed, from their rationals. The others are answered in doubles with an estimate of
the error: the rounding error of the matrix times the condition of the eigenvalue, |y||x| / |y x| for its left and right
eigenvectors (G. H. Golub, C. F. Van Loan, Matrix Computations (2013), section 7.2.2), the matrix balanced beforehand.
What is next to 0 is lost so where the chain almost falls apart, but it is the first thing to be seen in the inverse,
once that is found from the rationals.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg
from numpy.typing import NDArray

from serq.base.errors import LimitError
from serq.semantics.enclosed_rates import enclosed_rates, inverted
from serq.semantics.generator import Rows, sparse_rates

Vector = NDArray[np.float64]
Complex = NDArray[np.complex128]

ENCLOSED = 60
"""States up to which rates are proved, where no eigenvalue is a multiple one: a fraction of a second."""
_DENSE = 300
_WANTED = 6
_ACCURACY = 1e-8
"""Of an eigenvector, relative to the generator; also of a rate in doubles with which nobody looks for a better one."""
_WORST = 0.1
"""A slowest rate that may be off by more than this part of itself is no answer."""
_SAFETY = 8 * float(np.finfo(float).eps)


@dataclass(frozen=True, slots=True)
class Slowest:
    """The smallest eigenvalues of -Q after 0 (real parts, ascending), and the right eigenvector of the first of them.

    `bounds`: by how much each rate may be off; an estimate unless `proved`.
    """

    rates: tuple[float, ...]
    bounds: tuple[float, ...]
    proved: bool
    vector: Vector


@dataclass(frozen=True, slots=True)
class _Doubles:
    """Eigenvalues of Q next to 0 without 0 itself, the largest first, their right eigenvectors, estimated errors."""

    values: Complex
    vectors: Complex
    errors: Vector


def slowest(rows: Rows, pi: Vector) -> Slowest:
    """The slowest rates of an irreducible chain. LimitError when they are not found to enough digits."""
    size = len(rows)
    if size == 1:
        return Slowest((), (), True, np.ones(1))
    rates = sparse_rates(rows)
    generator = (rates - sparse.diags(np.asarray(rates.sum(axis=1)).ravel())).tocsc()
    found = _dense(generator) if size <= _DENSE else _near_zero(generator, pi)
    better = enclosed_rates(rows, min(_WANTED, size) - 1) if size <= ENCLOSED else None
    if better is None and size <= _DENSE and not found.errors[0] <= -_ACCURACY * found.values[0].real:
        found = _better(found, _of_inverse(inverted(rows)))
    # What an eigenvector has of the constant one is of no account, and all noise where its eigenvalue is almost 0.
    vector: Vector = np.ascontiguousarray(found.vectors[:, 0].real)
    vector = vector - pi @ vector / pi.sum()
    if better is not None:
        return Slowest(better.rates, better.bounds, True, vector if better.vector is None else better.vector)
    near = -found.values.real
    _check(generator, found, near)
    errors = tuple(float(x) for x in found.errors[: _WANTED - 1])
    return Slowest(tuple(float(x) for x in near[: _WANTED - 1]), errors, False, vector)


def _check(generator: Any, found: _Doubles, near: Vector) -> None:
    """LimitError where the first pair is no eigenpair, or its rate may be anything."""
    value, vector = found.values[0], found.vectors[:, 0]
    off = np.abs(generator @ vector - value * vector).max()
    if off > _ACCURACY * np.abs(generator.diagonal()).max() * np.abs(vector).max():
        raise LimitError("the eigenvalues next to 0 were not found to enough digits")
    if not found.errors[0] <= _WORST * near[0]:
        size, least = generator.shape[0], max(near[0], 0.0) + found.errors[0]
        raise LimitError(
            f"the slowest difference among {size} states dies out at a rate below {least:.1g}, which doubles do not "
            f"tell from 0; up to {_DENSE} states it is found from the rationals"
        )


def _dense(generator: Any) -> _Doubles:
    values, vectors, errors = _balanced(generator.toarray())
    order = np.argsort(-values.real)[1:]
    return _Doubles(values[order], vectors[:, order], errors[order])


def _of_inverse(matrix: Vector) -> _Doubles:
    """From `inverted`: what was smallest is largest, and right to the last digits."""
    inverse, vectors, errors = _balanced(matrix)
    inverse = np.where(inverse == 0, np.finfo(float).tiny, inverse)
    noise = errors > np.abs(inverse) / 2  # all that is there of those that are small, that of the constant vector too
    order = np.argsort(np.where(noise, np.inf, (1 / inverse).real), kind="stable")[:-1]
    inverse, vectors = inverse[order], vectors[:, order]
    vectors[:, 0] = matrix @ vectors[:, 0] / inverse[0]  # a step of the power method: balancing has cost it digits
    return _Doubles(-1 / inverse, vectors, errors[order] / np.abs(inverse) ** 2)


def _balanced(matrix: Vector) -> tuple[Complex, Complex, Vector]:
    """Eigenvalues, right eigenvectors, and estimates of the errors of the eigenvalues."""
    balanced, (scale, _) = scipy.linalg.matrix_balance(matrix, permute=False, separate=True)
    values, left, right = scipy.linalg.eig(balanced, left=True, right=True)
    errors = _SAFETY * np.linalg.norm(balanced) * _condition(left, right)
    return values.astype(complex), (scale[:, None] * right).astype(complex), errors


def _better(one: _Doubles, other: _Doubles) -> _Doubles:
    """Of two sets of estimates, each time the better one; the slowest are in the same order in both."""
    worse = ~(one.errors <= other.errors)
    return _Doubles(
        np.where(worse, other.values, one.values),
        np.where(worse, other.vectors, one.vectors),
        np.where(worse, other.errors, one.errors),
    )


def _condition(left: Complex, right: Complex) -> Vector:
    """|y||x| / |y x| by column; infinite where an eigenvector is orthogonal to its other one."""
    lengths = np.linalg.norm(left, axis=0) * np.linalg.norm(right, axis=0)
    with np.errstate(divide="ignore"):
        return np.asarray(lengths / np.abs((left.conj() * right).sum(axis=0)))


def _near_zero(generator: Any, pi: Vector) -> _Doubles:
    """By Arnoldi iteration on the deviation matrix, whose eigenvalues are 0 and the -1 / lambda.

    The wanted ones are the largest, and 0 is in nobody's way. The transposed one has the left eigenvectors.
    """
    size = generator.shape[0]
    reference = int(np.argmax(pi))
    others = np.delete(np.arange(size), reference)
    try:
        factors = linalg.splu(-generator[others][:, others].tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0)
    except RuntimeError as error:
        raise LimitError(f"the deviation matrix is beyond double precision: {error}") from error

    def bias(reward: Vector) -> Vector:
        g = np.zeros(size)
        g[others] = factors.solve((reward - pi @ reward)[others])
        return np.asarray(g - pi @ g)

    def transposed(weight: Vector) -> Vector:
        g = np.zeros(size)
        g[others] = factors.solve((weight - weight.sum() * pi)[others], trans="T")
        return np.asarray(g - g.sum() * pi)

    inverse, right = _largest(bias, size)
    other, left = _largest(transposed, size)
    # Both are the same eigenvalues, but a pair of conjugates may come in either order.
    pairs = [int(np.argmin(np.abs(other.conj() - value))) for value in inverse]
    left = left[:, pairs]
    rounding = np.einsum("ik,ik->k", np.abs(left), abs(generator) @ np.abs(right))
    rounding /= np.maximum(np.abs((left.conj() * right).sum(axis=0)), 1e-300)
    # The iteration is right to the rounding error of its largest eigenvalue; of 1 / x it is 1 / x^2 times as much.
    iteration = np.abs(inverse).max() / np.abs(inverse) ** 2 * _condition(left, right)
    return _Doubles(-1 / inverse, right, _SAFETY * (rounding + iteration))


def _largest(matvec: Any, size: int) -> tuple[Complex, Complex]:
    """The largest eigenvalues and their vectors, in the order of the rates. It always begins with the same vector."""
    operator = linalg.LinearOperator((size, size), matvec=matvec, dtype=float)
    start = np.random.default_rng(1).standard_normal(size)
    try:
        values, vectors = linalg.eigs(operator, k=_WANTED - 1, which="LM", v0=start)
    except linalg.ArpackError as error:
        raise LimitError(f"the eigenvalues next to 0 were not found: {error}") from error
    order = np.argsort((1 / values).real)
    return values[order], vectors[:, order]
