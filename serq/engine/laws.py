"""Which parameters make a law, in restricted Python, as `serq.ir.laws.problem_of` has it."""

from serq.codegen.lang import f64, floor
from serq.engine.arithmetic import is_finite

MOST_PHASES = 1e6
"""As in `serq.ir.laws`."""


def good_exp(mean: f64) -> bool:
    """A mean."""
    return is_finite(mean) and mean >= 0.0


def good_det(value: f64) -> bool:
    """A value."""
    return is_finite(value)


def good_uniform(low: f64, high: f64) -> bool:
    """Two ends."""
    return is_finite(low) and is_finite(high) and low <= high


def good_erlang(phases: f64, mean: f64) -> bool:
    """A number of phases and a mean."""
    return is_finite(mean) and mean >= 0.0 and 1.0 <= phases <= MOST_PHASES and phases == floor(phases)


def good_h2(mean: f64, cv2: f64) -> bool:
    """A mean and a squared coefficient of variation."""
    return is_finite(mean) and is_finite(cv2) and mean >= 0.0 and cv2 >= 1.0


def good_bernoulli(p: f64) -> bool:
    """A probability."""
    return 0.0 <= p <= 1.0


def good_geometric(p: f64) -> bool:
    """A probability that is not 0."""
    return 0.0 < p <= 1.0
