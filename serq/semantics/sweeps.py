"""The inner loops of the solvers, in restricted Python: elimination in a narrow band, and Gauss-Seidel sweeps.

A sparse matrix is given by rows: the entries of row i are `data[j]` in column `columns[j]`, for j from `begin[i]` to
`begin[i + 1]`.
"""

from serq.codegen.lang import F64Array, I64Array, f64, i64


def eliminate(band: F64Array, n: i64, width: i64) -> i64:
    """State elimination (Grassmann, Taksar and Heyman 1985) in a band of row length 2 `width`, from the last state on.

    The entry (i, j) is `band[2 * width * i + j + width]`. Afterwards (i, k), i < k, is the share with which the weight
    of i makes that of k. Returns the state that has no way down, 0 where all have one.
    """
    step = 2 * width
    k = n - 1
    while k > 0:
        low = max(0, k - width)
        row = step * k + width
        total = 0.0
        for j in range(low, k):
            total += band[row + j]
        if not total > 0.0:
            return k
        for i in range(low, k):
            at = step * i + width
            share = band[at + k] / total
            band[at + k] = share
            if share > 0.0:
                for j in range(low, k):
                    band[at + j] += share * band[row + j]
        k -= 1
    return 0


def weights(band: F64Array, n: i64, width: i64, weight: F64Array, power: I64Array, far: f64) -> None:
    """The weights from the shares, rescaled by powers of two: the weight of i is weight[i] * 2^power[i]."""
    step = 2 * width
    weight[0] = 1.0
    power[0] = 0
    current = 0
    for k in range(1, n):
        low = max(0, k - width)
        total = 0.0
        for i in range(low, k):
            total += weight[i] * band[step * i + width + k]
        weight[k] = total
        power[k] = current
        while total > far or (0.0 < total < 1.0 / far):
            factor = 2.0**-400 if total > far else 2.0**400
            change = 400 if total > far else -400
            for i in range(max(0, k + 1 - width), k + 1):
                weight[i] *= factor
                power[i] += change
            current += change
            total = weight[k]


def sweep(begin: I64Array, columns: I64Array, data: F64Array, exits: F64Array, x: F64Array, right: f64, n: i64) -> None:
    """One symmetric Gauss-Seidel sweep of x_i * exits_i = right + sum of data_ij x_j: forwards, then backwards.

    A state whose `exits` is 0 is left alone.
    """
    for i in range(n):
        if exits[i] > 0.0:
            total = right
            for j in range(begin[i], begin[i + 1]):
                total += data[j] * x[columns[j]]
            x[i] = total / exits[i]
    i = n - 1
    while i >= 0:
        if exits[i] > 0.0:
            total = right
            for j in range(begin[i], begin[i + 1]):
                total += data[j] * x[columns[j]]
            x[i] = total / exits[i]
        i -= 1
