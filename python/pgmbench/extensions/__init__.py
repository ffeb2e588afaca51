"""Further functions under the names that mbi gives them.

Not here: `MixtureOfProducts` and `ReweightedDatasetEstimator`, which fit other kinds of models by
gradient descent with an optimiser of optax.
"""

from . import message_passing
from .precompute_marginals import precompute_marginals
from .synthetic_data import precompile, synthetic_data

__all__ = ["message_passing", "precompile", "precompute_marginals", "synthetic_data"]
