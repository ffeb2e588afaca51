"""Problems for both sides, and how their answers are compared."""

import math

import numpy as np

SEED = 20190609


def chain(mbi, length=12, size=6, scale=20.0, total=20_000.0):
    """Every triple of neighbours of a chain, measured with Gaussian noise."""
    random = np.random.default_rng([SEED, length])
    names = [f"x{i}" for i in range(length)]
    domain, measurements = mbi.Domain(names, [size] * length), []
    pair = random.dirichlet(np.ones(size**2)).reshape(size, size)
    for first in range(length - 2):
        triple = pair[:, :, None] * random.dirichlet(np.full(size, 0.5), (size, size))
        y = total * triple.ravel() + scale * random.normal(size=size**3)
        measurements.append(mbi.LinearMeasurement(y, tuple(names[first : first + 3]), stddev=scale))
        pair = triple.sum(axis=0)
    return domain, measurements


def cycle(mbi, scale=15.0, total=3000.0):
    """Five attributes in a ring, marginals of one and two attributes, unequal noise."""
    random = np.random.default_rng(SEED)
    names, sizes = list("abcde"), [3, 4, 2, 5, 3]
    joint = total * random.dirichlet(np.full(math.prod(sizes), 0.3)).reshape(sizes)
    domain, measurements = mbi.Domain(names, sizes), []
    for i, clique in enumerate(
        [("a", "b"), ("c", "b"), ("c", "d"), ("d", "e"), ("e", "a"), ("a",), ("d",)]
    ):
        kept = [names.index(name) for name in clique]
        table = joint.sum(axis=tuple(j for j in range(5) if j not in kept))
        table = np.transpose(table, np.argsort(np.argsort(kept)))
        stddev = scale * (1 + i % 3)
        noisy = table.ravel() + stddev * random.normal(size=table.size)
        measurements.append(mbi.LinearMeasurement(noisy, clique, stddev=stddev))
    return domain, measurements


def residuals(model, measurements):
    """(Q mu - y) / stddev of all measurements, in double precision."""
    return np.concatenate([
        (np.asarray(m.query(model.project(m.clique)), dtype=np.float64).ravel()
         - np.asarray(m.noisy_measurement, dtype=np.float64).ravel()) / float(m.stddev)
        for m in measurements
    ])  # fmt: skip


def loss(model, measurements):
    return 0.5 * float(np.sum(residuals(model, measurements) ** 2))


def check_ours(ours, theirs, measurements, rounding=1e-6):
    """Our loss is at most theirs, and the answers are as close as two losses allow.

    The loss is half of a squared distance, so a model that is d above the minimum has answers
    within sqrt(2 d) of the optimal ones, in units of the noise. `gap` bounds d for ours.
    """
    our_loss, their_loss = loss(ours, measurements), loss(theirs, measurements)
    assert our_loss <= their_loss * (1 + rounding), (our_loss, their_loss)
    gap = max(ours.fitted.gap, rounding * our_loss)
    excess = max(their_loss - our_loss, 0.0) + gap
    distance = float(
        np.linalg.norm(residuals(ours, measurements) - residuals(theirs, measurements))
    )
    assert distance <= math.sqrt(2 * excess) + math.sqrt(2 * gap) + 1e-9, (distance, excess, gap)
    return our_loss, their_loss
