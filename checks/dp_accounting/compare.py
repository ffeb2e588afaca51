"""Compares conversions and compositions of crates/dp with Google's dp-accounting.

Reads the output of `cargo run -p dp --example conversions`. An epsilon that we report is an upper
bound, so it may not be below the exact one; where dp-accounting cannot compute that exactly, its
optimistic estimate (a lower bound on it) takes its place. Ends with an error if one is below, or so
far above that a constant must be wrong.
"""

import math
import sys
from collections import defaultdict

import dp_accounting
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.rdp import rdp_privacy_accountant as rdp

# Relative. dp-accounting minimises over the orders below, which loses less than this.
TOLERANCE = 1e-3
# Orders of the Renyi divergence, much finer than the default ones.
ORDERS = [1 + 10 ** (x / 60) for x in range(-240, 360)]


def gaussian_by_rdp(rho, delta):
    accountant = rdp.RdpAccountant(orders=ORDERS)
    accountant.compose(dp_accounting.GaussianDpEvent(1 / math.sqrt(2 * rho)))
    return accountant.get_epsilon(delta)


def randomized_response(epsilon, interval):
    """The worst epsilon-private mechanism (Kairouz, Oh, Viswanath 2015)."""
    other = 1 / (1 + math.exp(epsilon))
    return two_outcomes(1 - other, other, interval)


def two_outcomes(p, q, interval):
    """A loss distribution from below, on a grid."""
    lower = {0: math.log(p), 1: math.log1p(-p)}
    upper = {0: math.log(q), 1: math.log1p(-q)}
    return pld.from_two_probability_mass_functions(
        lower,
        upper,
        pessimistic_estimate=False,
        value_discretization_interval=interval,
        symmetric=False,
    )


def selection(epsilon, p, interval=None):
    """The exponential mechanism with two candidates, of which the first has probability p, whose
    scores change by the most in opposite directions: losses at both ends of an interval of length
    epsilon."""
    q = p * math.exp(epsilon) / (p * math.exp(epsilon) + 1 - p)
    return two_outcomes(p, q, interval or epsilon / 200)


def noise(make, scale, interval):
    return make(
        scale,
        pessimistic_estimate=False,
        value_discretization_interval=interval,
        use_connect_dots=False,
    )


def advanced(parts, delta):
    """Theorem 3.20 of Dwork and Roth 2014, for parts of several sizes."""
    spread = sum(count * epsilon**2 for epsilon, count in parts)
    mean = sum(count * epsilon * math.expm1(epsilon) for epsilon, count in parts)
    return math.sqrt(2 * math.log(1 / delta) * spread) + mean


def exact_epsilon(kind, arguments, delta):
    """The epsilon of the draws at delta, or a lower bound on it."""
    if kind == "rho-to-epsilon":
        return dp_accounting.get_epsilon_gaussian(1 / math.sqrt(2 * arguments[0]), delta)
    count = int(arguments[-1])
    if kind == "mixed":
        sigma, scale, temperature, _ = arguments
        interval = 2 / temperature / 100
        loss = noise(pld.from_gaussian_mechanism, sigma, interval)
        loss = loss.compose(noise(pld.from_laplace_mechanism, scale, interval))
        loss = loss.compose(selection(2 / temperature, 0.5, interval))
        return loss.self_compose(count).get_epsilon_for_delta(delta)
    if kind == "selections":
        losses = (selection(2 / arguments[0], p) for p in (0.1, 0.3, 0.5, 0.7, 0.9))
        return max(loss.self_compose(count).get_epsilon_for_delta(delta) for loss in losses)
    epsilon = arguments[0]
    loss = randomized_response(epsilon, epsilon / 600).self_compose(count)
    if kind == "advanced-two":
        second = randomized_response(epsilon / 3, epsilon / 600).self_compose(2 * count)
        loss = loss.compose(second)
    return loss.get_epsilon_for_delta(delta)


def formula(kind, arguments, delta):
    """The theorem that our value claims to be, computed by dp-accounting or here."""
    if kind == "rho-to-epsilon":
        return gaussian_by_rdp(arguments[0], delta)
    first, *_, count = arguments
    if kind == "advanced":
        return advanced([(first, count)], delta)
    if kind == "advanced-two":
        parts = [(first, count), (first / 3, 2 * count)]
        # Few draws cost their sum.
        return min(advanced(parts, delta), sum(epsilon * draws for epsilon, draws in parts))
    if kind == "pure-in-rho":
        return gaussian_by_rdp(count * first**2 / 2, delta)
    if kind == "selections":
        return gaussian_by_rdp(count * (2 / first) ** 2 / 8, delta)
    sigma, scale, temperature, _ = arguments
    rho = 1 / (2 * sigma**2) + 1 / (2 * scale**2) + (2 / temperature) ** 2 / 8
    return gaussian_by_rdp(count * rho, delta)


def check(kind, arguments, delta, ours):
    """Our value relative to the exact one, and whether it is right."""
    if kind == "epsilon-to-rho":
        # What our rho implies may not exceed the epsilon that was asked for, and nearly reaches it.
        (epsilon,) = arguments
        exact = dp_accounting.get_epsilon_gaussian(1 / math.sqrt(2 * ours), delta)
        return epsilon / exact, is_close(epsilon, gaussian_by_rdp(ours, delta))
    if kind == "gaussian-sigma":
        exact = dp_accounting.get_sigma_gaussian(arguments[0], delta)
        implied = gaussian_by_rdp(1 / (2 * ours**2), delta)
        return ours / exact, is_close(arguments[0], implied)
    exact = exact_epsilon(kind, arguments, delta)
    ratio = ours / exact if exact > 0 else math.inf
    return ratio, is_close(ours, formula(kind, arguments, delta))


def is_close(ours, theorem):
    # dp-accounting finds 0 by another bound where the noise is so large that delta alone suffices.
    return theorem == 0 or abs(ours / theorem - 1) < TOLERANCE


def main():
    ratios = defaultdict(list)
    wrong = []
    for line in sys.stdin:
        kind, *numbers = line.split()
        *arguments, delta, ours = map(float, numbers)
        ratio, is_formula = check(kind, arguments, delta, ours)
        if ratio < 1:
            wrong.append(f"{line.strip()}: below the exact value, {ratio} of it")
        if not is_formula:
            wrong.append(f"{line.strip()}: not the value of its theorem")
        ratios[kind].append(ratio)
    for kind, found in ratios.items():
        print(f"{kind:15} {len(found):3} values, at least {min(found):.3f} of the exact one")
    if not ratios:
        wrong.append("no values were read")
    for message in wrong:
        print(f"wrong: {message}", file=sys.stderr)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
