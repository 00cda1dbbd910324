"""Tails of sums of independent whole steps, by saddle-point inversion: one number, no distribution.

For a sum U of steps on the integers, any s > 0 and m,

    1/m · Σⱼ M(z) e^{−zk} / (1 − e^{−z}),  z = s + 2πij/m,  j = 0 … m − 1,  M(z) = E e^{zU}

is P(U >= k) + Σ_{i≠0} e^{sim} P(U >= k + im): the tail itself and its aliases.

At the saddle point the summands do not cancel, so the sum has full relative accuracy; m is chosen so that the aliases
are below e^−36 of the tail. docs/computation.md has the reasons. `distributions` computes a whole window and
bounds its error; tests compare the two. This module is for the pairs of many systems (`pairs`), each of which needs
one tail.

Steps are distinct whole numbers, divided by their common divisor, with the number of times that each occurs.
"""

from __future__ import annotations

import math

import numpy as np

from pairsig.core.compiled import compiled

_NEGLIGIBLE = 36.0
"""Aliases and points of the path are left out where they are below e⁻³⁶ ≈ 2e-16 of the tail."""
_LEAST_TILT = 2.0
"""Smallest tilt, in standard deviations: nearer to the mean the pole at 0 would ask for more points."""
_MOST_WAVES = 2**21
"""Limit on evaluated angles (about 0.1 s); beyond it, use `distributions`."""
_MOST_PRODUCTS = 2**26
"""Products of waves that the tail of a ratio may take, as long."""


@compiled
def gcd(a, b):  # type: ignore[no-untyped-def]
    """The greatest common divisor of two whole numbers >= 0."""
    while b:
        a, b = b, a % b
    return a


@compiled
def distinct(values):  # type: ignore[no-untyped-def]
    """Distinct values in ascending order, and how often each occurs."""
    ordered = np.sort(values)
    steps = np.empty_like(ordered)
    times = np.zeros(len(ordered), dtype=np.int64)
    size = 0
    for index in range(len(ordered)):
        if index == 0 or ordered[index] != ordered[index - 1]:
            steps[size] = ordered[index]
            size += 1
        times[size - 1] += 1
    return steps[:size], times[:size]


@compiled
def _log_estimate(log_front, tilt, variance):  # type: ignore[no-untyped-def]
    """About the log of the tail: of e^{K(s) − sk} / (1 + s·√(2πσ²)), where `log_front` is K(s) − sk."""
    return log_front - math.log(1.0 + tilt * math.sqrt(2 * math.pi * variance))


@compiled
def _least_points(log_p, tilt, log_further, further):  # type: ignore[no-untyped-def]
    """Points on the path from which on the aliases are negligible, if the tail is not below e^`log_p`.

    The aliases from below weigh e^{−sm} at most each, those from above e^{K(s + b) − (s + b)k − bm} by Chernoff, for a
    further tilt b; `log_further` is K(s + b) − (s + b)k.
    """
    below = (_NEGLIGIBLE - log_p) / tilt
    above = (_NEGLIGIBLE + log_further - log_p) / further
    return max(below, above)


@compiled
def _summand(log_size, phase, real, imaginary):  # type: ignore[no-untyped-def]
    """The real part of M(z) e^{−zk} / (1 − e^{−z}), from log|M|, the phase of M e^{−zk}, and 1 − e^{−z} in parts."""
    term = math.exp(log_size) * (math.cos(phase) * real + math.sin(phase) * imaginary)
    return term / (real * real + imaginary * imaginary)


@compiled
def _swap_log_mgf(steps, times, tilt):  # type: ignore[no-untyped-def]
    """K(s) = Σ log((1 + e^{s·step}) / 2)."""
    log = 0.0
    for i in range(len(steps)):
        x = tilt * steps[i]
        log += times[i] * (x + math.log1p(math.exp(-x)) - math.log(2.0))
    return log


@compiled
def _swap_moments(steps, times, tilt):  # type: ignore[no-untyped-def]
    """Mean and variance of the tilted sum, K'(s) and K''(s): each step is made with p = 1 / (1 + e^{−s·step})."""
    mean = variance = 0.0
    for i in range(len(steps)):
        p = 1.0 / (1.0 + math.exp(-tilt * steps[i]))
        mean += times[i] * steps[i] * p
        variance += times[i] * steps[i] * float(steps[i]) * p * (1.0 - p)
    return mean, variance


@compiled
def _swap_tilt(steps, times, k, highest):  # type: ignore[no-untyped-def]
    """The tilt for P(Σ of the steps >= k): at the saddle point, or a little beyond."""
    mean, variance = _swap_moments(steps, times, 0.0)
    least = _LEAST_TILT / math.sqrt(variance)
    target = min(float(k), highest - 0.5)
    if target <= mean:
        return least
    # K'(s) = k, by doubling and bisection.
    low, high = 0.0, 1.0 / math.sqrt(variance)
    while _swap_moments(steps, times, high)[0] < target:
        low, high = high, 2 * high
    for _ in range(20):
        middle = (low + high) / 2
        if _swap_moments(steps, times, middle)[0] < target:
            low = middle
        else:
            high = middle
    return max(high, least)


@compiled
def swap_tail(steps, times, k, most=_MOST_WAVES):  # type: ignore[no-untyped-def]
    """P(Σ bᵢvᵢ >= k), every bᵢ 0 or 1 with probability ½: `times` steps of each size `steps` > 0.

    NaN if that takes more than `most` angles of steps.
    """
    highest = 0
    for i in range(len(steps)):
        highest += steps[i] * times[i]
    if k <= 0:
        return 1.0
    if k > highest:
        return 0.0
    # The tilt s, and e^{K(s) − sk}, which stands before the sum.
    tilt = _swap_tilt(steps, times, k, highest)
    variance = _swap_moments(steps, times, tilt)[1]
    log_front = _swap_log_mgf(steps, times, tilt) - tilt * k
    # The number of points m.
    log_p = _log_estimate(log_front, tilt, variance) - 3.0
    further = math.sqrt(2 * _NEGLIGIBLE / (variance + 1.0))
    log_further = _swap_log_mgf(steps, times, tilt + further) - (tilt + further) * k
    m = int(max(_least_points(log_p, tilt, log_further, further), 1.0)) + 2
    turn = 2 * math.pi / m
    decay = math.exp(-tilt)
    p = np.empty(len(steps))
    for i in range(len(steps)):
        p[i] = 1.0 / (1.0 + math.exp(-tilt * steps[i]))
    total = 0.0
    n_angles = 0
    for j in range(m // 2 + 1):
        if n_angles > most:
            return math.nan
        # log|φ| and the phase of φ, the product of the steps' 1 − p + p e^{iα}: |φ|² is 1 − 2p(1 − p)(1 − cos α).
        log_size = phase = 0.0
        for i in range(len(steps)):
            n_angles += 1
            half = 0.5 * turn * ((j * steps[i]) % m)
            sine, cosine = math.sin(half), math.cos(half)
            factor = 1.0 - 4.0 * p[i] * (1.0 - p[i]) * sine * sine
            if factor <= 0.0:
                log_size = -math.inf
                break
            log_size += 0.5 * times[i] * math.log(factor)
            if log_size < -_NEGLIGIBLE - 9.0:
                break
            phase += times[i] * (half + math.atan2((2.0 * p[i] - 1.0) * sine, cosine))
        if log_size < -_NEGLIGIBLE - 9.0:
            continue
        # The summand at z = s + 2πij/m, which stands for that of m − j, too.
        phase -= turn * ((j * k) % m)
        angle = turn * j
        term = _summand(log_size, phase, 1.0 - decay * math.cos(angle), decay * math.sin(angle))
        total += term if j == 0 or 2 * j == m else 2.0 * term
    return min(1.0, math.exp(log_front) * total / m)


@compiled
def _draw_log_mgf(steps, shares, n, tilt):  # type: ignore[no-untyped-def]
    """K(s) of n draws, and mean and variance of the tilted sum."""
    top = -math.inf
    for i in range(len(steps)):
        top = max(top, tilt * steps[i])
    total = mean = square = 0.0
    for i in range(len(steps)):
        weight = shares[i] * math.exp(tilt * steps[i] - top)
        total += weight
        mean += weight * steps[i]
        square += weight * steps[i] * steps[i]
    mean /= total
    return n * (top + math.log(total)), n * mean, n * max(square / total - mean * mean, 0.0)


@compiled
def _draw_tilt(steps, shares, n, k):  # type: ignore[no-untyped-def]
    """The tilt for P(Σ of n draws >= k): at the saddle point, or a little beyond."""
    highest = steps[0]
    second = -math.inf
    for i in range(1, len(steps)):
        highest = max(highest, steps[i])
    for i in range(len(steps)):
        if steps[i] < highest:
            second = max(second, steps[i])
    target = min(float(k), n * highest - 0.5 * min(1.0, highest - second))
    _, mean, variance = _draw_log_mgf(steps, shares, n, 0.0)
    least = _LEAST_TILT / math.sqrt(variance)
    if target <= mean:
        return least
    # K'(s) = k, by doubling and bisection.
    low, high = 0.0, 0.5 * least
    while _draw_log_mgf(steps, shares, n, high)[1] < target:
        low, high = high, 2 * high
    for _ in range(20):
        middle = (low + high) / 2
        if _draw_log_mgf(steps, shares, n, middle)[1] < target:
            low = middle
        else:
            high = middle
    return max(high, least)


@compiled
def draw_tail(steps, times, k, most=_MOST_WAVES):  # type: ignore[no-untyped-def]
    """P(Σ of n draws >= k), n = Σ times, from whole steps, distinct, two of them at least.

    NaN if that takes more than `most` angles of steps.
    """
    n = times.sum()
    if k <= n * steps.min():
        return 1.0
    if k > n * steps.max():
        return 0.0
    values = steps.astype(np.float64)
    shares = times / n
    # The tilt s, and e^{K(s) − sk}, which stands before the sum.
    tilt = _draw_tilt(values, shares, n, k)
    log_mgf, _, variance = _draw_log_mgf(values, shares, n, tilt)
    log_front = log_mgf - tilt * k
    # The number of points m.
    log_p = _log_estimate(log_front, tilt, variance) - 3.0
    further = math.sqrt(2 * _NEGLIGIBLE / (variance + 1.0))
    log_further = _draw_log_mgf(values, shares, n, tilt + further)[0] - (tilt + further) * k
    m = int(max(_least_points(log_p, tilt, log_further, further), 1.0)) + 2
    if m // 2 * len(steps) > most:
        return math.nan
    turn = 2 * math.pi / m
    decay = math.exp(-tilt)
    p = shares * np.exp(tilt * values - log_mgf / n)
    enough = 1.0 - math.exp(-2.0 * (_NEGLIGIBLE + 9.0) / n)
    total = 0.0
    for j in range(m // 2 + 1):
        # φ − 1 of one tilted draw: its logarithm keeps relative accuracy where φ is near 1.
        real, imaginary = 0.0, 0.0
        for i in range(len(steps)):
            angle = turn * ((j * steps[i]) % m)
            sine = math.sin(0.5 * angle)
            real -= p[i] * 2.0 * sine * sine
            imaginary += p[i] * math.sin(angle)
        loss = -(real * (2.0 + real) + imaginary * imaginary)  # 1 − |φ|²
        if loss > enough:
            continue
        # φⁿ, and the summand at z = s + 2πij/m, which stands for that of m − j, too.
        log_size = 0.5 * n * math.log1p(-loss)
        phase = n * math.atan2(imaginary, 1.0 + real) - turn * ((j * k) % m)
        angle = turn * j
        term = _summand(log_size, phase, 1.0 - decay * math.cos(angle), decay * math.sin(angle))
        total += term if j == 0 or 2 * j == m else 2.0 * term
    return min(1.0, math.exp(log_front) * total / m)


@compiled
def draw_beyond(steps, times, bound):  # type: ignore[no-untyped-def]
    """P(Σ of n draws > bound), n = Σ times, from distinct whole steps."""
    n = times.sum()
    if len(steps) == 1:
        return 1.0 if n * steps[0] > bound else 0.0
    least, common = steps.min(), 0
    for i in range(len(steps)):
        common = gcd(steps[i] - least, common)
    # Σ steps > bound: least·n + common·U > bound.
    return draw_tail((steps - least) // common, times, (bound - least * n) // common + 1)


@compiled
def _inverse(value, modulus):  # type: ignore[no-untyped-def]
    """The inverse of a value that has nothing in common with the modulus."""
    before, now, x, y = modulus, value % modulus, 0, 1
    while now:
        quotient = before // now
        before, now = now, before - quotient * now
        x, y = y, x - quotient * y
    return x % modulus


@compiled
def ratio_tail(differences, lengths, times, fine, slope, k, most=_MOST_PRODUCTS):  # type: ignore[no-untyped-def]
    """P(fine · D* >= slope · L* + k), D* and L* sums of n draws of (difference, length); slope / fine in lowest terms.

    NaN if that takes more than `most` products of waves.

    The lengths come in ascending order. U = fine · D* − slope · L* takes integer values; the path for P(U >= k) has
    fine · turns points, point j = q·turns + r at the frequencies 2πr/turns of D* and −2π(slope·q + slope·r/turns)/fine
    of L*. For one r these are all whole multiples x of 2π/fine, moved by the same part: x = slope·q modulo fine.
    """
    n = times.sum()
    steps = (fine * differences - slope * lengths).astype(np.float64)
    if n * steps.max() < k:
        return 0.0
    if n * steps.min() >= k:
        return 1.0
    # The tilt s, e^{K(s) − sk}, and the probabilities p of the tilted draw.
    shares = times / n
    tilt = _draw_tilt(steps, shares, n, k)
    log_mgf, _, variance = _draw_log_mgf(steps, shares, n, tilt)
    log_front = log_mgf - tilt * k
    p = shares * np.exp(tilt * steps - log_mgf / n)
    # The number of points, fine · turns; with odd turns, r and −r are each other's mirror image.
    log_p = _log_estimate(log_front, tilt, variance) - 3.0
    further = math.sqrt(2 * _NEGLIGIBLE / variance)
    log_further = _draw_log_mgf(steps, shares, n, tilt + further)[0] - (tilt + further) * k
    turns = 2 * (int(_least_points(log_p, tilt, log_further, further) / fine) // 2) + 3
    # Beyond this |φ| is below e^{−45/n}, and φⁿ negligible.
    enough = math.exp(-(_NEGLIGIBLE + 9.0) / n)

    length, _ = distinct(lengths)
    place = np.searchsorted(length, lengths)
    n_products_each = len(length) + length[-1] - length[0]  # for one frequency of L*
    n_products = 0
    active = _active_lengths(differences, lengths, p, enough)
    n_cells = len(active)
    inverse = _inverse(slope, fine) if fine > 1 else 0
    sums_real, sums_imaginary = np.empty(len(length)), np.empty(len(length))
    decay = math.exp(-tilt)
    total = 0.0
    for r in range(turns // 2 + 1):
        if _sums_by_length(differences, place, p, r, turns, sums_real, sums_imaginary) < enough:
            continue
        part = slope * r / turns
        # Cells of frequencies of L*, from −π to π, whose φ may count; x + part is the frequency in units of 2π/fine.
        for cell in range(n_cells):
            if not active[cell]:
                continue
            lower = fine * (cell / n_cells - 0.5)
            upper = fine * ((cell + 1) / n_cells - 0.5)
            for x in range(math.ceil(lower - part), math.ceil(upper - part)):
                n_products += n_products_each
                if n_products > most:
                    return math.nan
                real, imaginary = _wave_over_lengths(sums_real, sums_imaginary, length, -(x + part) / fine)
                size = math.sqrt(real * real + imaginary * imaginary)
                if size < enough:
                    continue
                # θ = 2πj / (fine·turns) with x = slope·q modulo fine, whole turns taken off.
                q = (x % fine) * inverse % fine if fine > 1 else 0
                theta = 2 * math.pi * ((q + r / turns) / fine)
                # The summand at z = s + iθ, with 1 − e^{−s} cos θ without cancellation; −r stands for as much.
                half = math.sin(0.5 * theta)
                phase = n * math.atan2(imaginary, real) - k * theta
                difference = -math.expm1(-tilt) + 2.0 * decay * half * half
                term = _summand(n * math.log(size), phase, difference, decay * math.sin(theta))
                total += term if r == 0 else 2.0 * term
    return min(1.0, math.exp(log_front) * total / turns / fine)


@compiled
def _sums_by_length(differences, place, p, r, turns, sums_real, sums_imaginary):  # type: ignore[no-untyped-def]
    """Fill in Σ p e^{i·difference·θ} over the draws of each length, θ = 2πr/turns; return Σ of their sizes, >= |φ|."""
    sums_real[:] = 0.0
    sums_imaginary[:] = 0.0
    for i in range(len(place)):
        angle = 2 * math.pi * ((r * differences[i]) % turns) / turns
        sums_real[place[i]] += p[i] * math.cos(angle)
        sums_imaginary[place[i]] += p[i] * math.sin(angle)
    bound = 0.0
    for i in range(len(sums_real)):
        bound += math.sqrt(sums_real[i] ** 2 + sums_imaginary[i] ** 2)
    return bound


@compiled
def _wave_over_lengths(sums_real, sums_imaginary, length, turned):  # type: ignore[no-untyped-def]
    """φ = Σ over lengths of their sum · e^{2πi·length·turned}: one product for each step from a length to the next."""
    real = imaginary = 0.0
    step_real, step_imaginary = math.cos(2 * math.pi * turned), math.sin(2 * math.pi * turned)
    angle = 2 * math.pi * turned * length[0]
    wave_real, wave_imaginary = math.cos(angle), math.sin(angle)
    reached = length[0]
    for i in range(len(length)):
        while reached < length[i]:
            wave_real, wave_imaginary = (
                wave_real * step_real - wave_imaginary * step_imaginary,
                wave_real * step_imaginary + wave_imaginary * step_real,
            )
            reached += 1
        real += sums_real[i] * wave_real - sums_imaginary[i] * wave_imaginary
        imaginary += sums_real[i] * wave_imaginary + sums_imaginary[i] * wave_real
    return real, imaginary


@compiled
def _active_lengths(differences, lengths, p, enough):  # type: ignore[no-untyped-def]
    """Cells of the frequencies of L* in [−π, π] where |φ| may reach `enough`, whatever the frequency of D* is.

    There |φ| is at most Σ over the differences d of |Σ over units with d of p e^{i·length·θ}|, which changes no faster
    than the mean distance of the lengths from their mean. First a quick look with the commonest difference alone.
    """
    lowest, highest = differences.min(), differences.max()
    weight = np.zeros(highest - lowest + 1)
    mean = 0.0
    for i in range(len(p)):
        weight[differences[i] - lowest] += p[i]
        mean += p[i] * lengths[i]
    commonest = np.argmax(weight) + lowest
    weight_of_others = 1.0 - weight.max()
    speed = 0.0
    for i in range(len(p)):
        speed += p[i] * abs(lengths[i] - mean)
    # Cells so small that the bound changes little from the middle to the border.
    n_cells = 1
    while n_cells < 64 * speed or n_cells < 4 * lengths[-1]:
        n_cells *= 2
    n_cells = min(n_cells, 2**14)
    margin = speed * math.pi / n_cells
    real, imaginary = np.empty(len(weight)), np.empty(len(weight))
    active = np.zeros(n_cells, dtype=np.bool_)
    for cell in range(n_cells // 2):
        theta = 2 * math.pi * ((cell + 0.5) / n_cells - 0.5)
        # The commonest difference alone.
        common_real = common_imaginary = 0.0
        for i in range(len(p)):
            if differences[i] == commonest:
                common_real += p[i] * math.cos(theta * lengths[i])
                common_imaginary += p[i] * math.sin(theta * lengths[i])
        if math.sqrt(common_real**2 + common_imaginary**2) + weight_of_others + margin < enough:
            continue
        # All differences d: Σ over d of |Σ p e^{i·length·θ}|.
        real[:] = 0.0
        imaginary[:] = 0.0
        for i in range(len(p)):
            real[differences[i] - lowest] += p[i] * math.cos(theta * lengths[i])
            imaginary[differences[i] - lowest] += p[i] * math.sin(theta * lengths[i])
        bound = 0.0
        for i in range(len(weight)):
            bound += math.sqrt(real[i] ** 2 + imaginary[i] ** 2)
        active[cell] = active[n_cells - 1 - cell] = bound + margin >= enough
    return active


# Two totals: the systems' denominators differ. U is the better system's numerator after the swaps, V its denominator,
# and the event is, in each row V = v, U >= k(v).


@compiled
def _plane_moments(steps, times, s, t):  # type: ignore[no-untyped-def]
    """Means, variances and covariance of (U, V), every step made with probability 1 / (1 + e^{−(s·u + t·v)})."""
    mean_u = mean_v = variance_u = variance_v = covariance = 0.0
    for i in range(len(times)):
        u, v = float(steps[i, 0]), float(steps[i, 1])
        p = 0.5 + 0.5 * math.tanh((s * u + t * v) / 2)
        weight = times[i] * p * (1.0 - p)
        mean_u += times[i] * p * u
        mean_v += times[i] * p * v
        variance_u += weight * u * u
        variance_v += weight * v * v
        covariance += weight * u * v
    return mean_u, mean_v, variance_u, variance_v, covariance


@compiled
def _border(row, below, above, delta, least, units):  # type: ignore[no-untyped-def]
    """Where the event begins in a row, as a real number; see `exact.Ratios.swapped`."""
    denominator = least[1] + units[1] * row
    return (denominator / below * (delta * (below - denominator) + above) - least[0]) / units[0]


@compiled
def plane_aim(steps, times, below, above, delta, least, units):  # type: ignore[no-untyped-def]
    """The tilt along the border's normal whose mean lies on the border, and that point; as `distributions.aim`."""
    _, row, _, variance, _ = _plane_moments(steps, times, 0.0, 0.0)
    spread = math.sqrt(variance)
    tilt = slope = 0.0
    for _ in range(20):
        # The border's tangent at the row: U − slope·V >= target.
        start = _border(row, below, above, delta, least, units)
        slope = 0.5 * (
            _border(row + 1, below, above, delta, least, units) - _border(row - 1, below, above, delta, least, units)
        )
        target = start - slope * row
        highest, largest = -0.5, 0.0
        for i in range(len(times)):
            across = steps[i, 0] - slope * steps[i, 1]
            highest += times[i] * max(across, 0.0)
            largest = max(largest, abs(across))
        target = min(target, highest)
        # The tilt along (1, −slope) whose mean lies on the tangent, by doubling and bisection.
        mean_u, mean_v, _, _, _ = _plane_moments(steps, times, 0.0, 0.0)
        tilt = 0.0
        if mean_u - slope * mean_v < target:
            low, high = 0.0, 1.0 / largest
            while high < 1e6:
                mean_u, mean_v, _, _, _ = _plane_moments(steps, times, high, -slope * high)
                if mean_u - slope * mean_v >= target:
                    break
                low, high = high, 2 * high
            for _ in range(24):
                tilt = (low + high) / 2
                mean_u, mean_v, _, _, _ = _plane_moments(steps, times, tilt, -slope * tilt)
                if mean_u - slope * mean_v < target:
                    low = tilt
                else:
                    high = tilt
            tilt = high
        # The mean's row, where the next tangent touches.
        row_before = row
        row = _plane_moments(steps, times, tilt, -slope * tilt)[1]
        if abs(row - row_before) <= 0.01 * spread:
            break
    _, _, variance_u, variance_v, covariance = _plane_moments(steps, times, tilt, -slope * tilt)
    variance_across = variance_u - 2 * slope * covariance + slope * slope * variance_v
    tilt = max(tilt, _LEAST_TILT / math.sqrt(max(variance_across, 1e-300)))
    return tilt, -slope * tilt


@compiled
def _reach(variance, largest, log):  # type: ignore[no-untyped-def]
    """Bernstein (1946): P(X − EX > x) <= exp(−x² / 2(σ² + bx/3)) for centred steps up to b; x for a bound e^−log."""
    return largest * log / 3 + math.sqrt((largest * log / 3) ** 2 + 2 * variance * log)


@compiled
def plane_rows(steps, times, s, t):  # type: ignore[no-untyped-def]
    """First and last row that may contain mass after tilting."""
    _, mean, _, variance, _ = _plane_moments(steps, times, s, t)
    bottom, top, largest = 0, 0, 0
    for i in range(len(times)):
        bottom += times[i] * min(steps[i, 1], 0)
        top += times[i] * max(steps[i, 1], 0)
        largest = max(largest, abs(steps[i, 1]))
    reach = _reach(variance, largest, _NEGLIGIBLE + 9.0)
    return max(bottom, math.floor(mean - reach)), min(top, math.ceil(mean + reach))


@compiled
def plane_tail(steps, times, s, t, bottom, starts, most=_MOST_PRODUCTS):  # type: ignore[no-untyped-def]
    """Σ over rows v = bottom, bottom + 1, … of P(V = v, U >= k(v)), where k(v) is starts[v − bottom].

    `starts` above every U stand for rows without the event. NaN if that takes more than `most` products of waves.

    With θ = 2πj/m, ω = 2πq/rows and the tilted φ(θ, ω) = E e^{(s + iθ)U + (t + iω)V − K(s, t)}, it is

        e^{K(s, t)} / (m · rows) · Σ_j 1 / (1 − e^{−(s + iθ)}) · Σ_v e^{−sk(v) − tv} e^{−iθk(v)} Σ_q φ(θ, ω) e^{−iωv}.
    """
    rows = len(starts)
    mean_u, mean_v, variance_u, _, _ = _plane_moments(steps, times, s, t)
    log_mgf, p = _plane_tilted(steps, times, s, t)
    largest, top_u = np.abs(steps[:, 0]).max(), (times * np.maximum(steps[:, 0], 0)).sum()
    # Weights e^{−sk(v) − tv}, relative to that of the row nearest to the mean.
    shift, lightest, first_k = _row_exponents(starts, bottom, s, t, mean_v, top_u)
    if lightest == math.inf:
        return 0.0
    if shift - lightest > 8.0:  # the border bends away from the tilt; the caller uses another method
        return math.nan
    row_weight = np.zeros(rows)
    for row in range(rows):
        if starts[row] <= top_u:
            row_weight[row] = math.exp(shift - s * starts[row] - t * (bottom + row))
    # The number m of frequencies of U.
    log_front = log_mgf - shift
    log_p = _log_estimate(log_front, s, variance_u + 1.0) - 12.0
    below = (_NEGLIGIBLE - min(log_p, 0.0)) / s
    above = mean_u + _reach(variance_u, largest, _NEGLIGIBLE + 9.0) - first_k
    m = int(max(below, above, 1.0)) + 2
    if m + rows > most:
        return math.nan
    turn_u, turn_v = 2 * math.pi / m, 2 * math.pi / rows
    wave_u, wave_v = np.exp(1j * turn_u * np.arange(m)), np.exp(1j * turn_v * np.arange(rows))

    # −log|φ| >= Σ w(1 − cos α), w = p(1 − p), at the angles α of the steps. For one frequency of U its sums by the
    # steps' v serve all frequencies of V. First by boxes: from a box's middle the bound falls by `slack` at most.
    weights = times * p * (1.0 - p)
    weight, box_u, box_v, slack = _boxes(steps, weights, turn_u, turn_v, m, rows)
    lowest_v = steps[:, 1].min()
    n_classes = steps[:, 1].max() - lowest_v + 1
    n_boxes = (rows + box_v - 1) // box_v
    n_products = n_boxes * n_classes
    if n_products > most:
        return math.nan
    middles = _middle_waves(n_boxes, n_classes, lowest_v, turn_v, box_v)
    active = np.empty(n_boxes, dtype=np.bool_)
    sums = np.empty(n_classes, dtype=np.complex128)
    waves = np.empty(len(times), dtype=np.complex128)
    by_row = np.empty(rows, dtype=np.complex128)
    decay = math.exp(-s)
    total = 0.0
    for first in range(0, m // 2 + 1, box_u):
        n_products += len(times) + n_boxes * n_classes
        if n_products > most:
            return math.nan
        for i in range(len(times)):
            angle = turn_u * (first + 0.5 * (box_u - 1)) * steps[i, 0]
            waves[i] = complex(math.cos(angle), math.sin(angle))
        _sums_by_v(steps, weights, waves, lowest_v, sums)
        if not _may_count(sums, middles, weight - slack, active):
            continue
        for j in range(first, min(first + box_u, m // 2 + 1)):
            n_products += len(times)
            for i in range(len(times)):
                waves[i] = wave_u[(j * steps[i, 0]) % m]
            _sums_by_v(steps, weights, waves, lowest_v, sums)
            n_products = _transform_rows(
                steps, times, p, waves, wave_v, bottom, sums, lowest_v, weight, active, box_v, n_products, most, by_row
            )
            if n_products < 0:
                return math.nan
            # Σ over rows of their weight and of the half-line's wave e^{−iθk}.
            weighted = 0j
            for row in range(rows):
                if row_weight[row] > 0.0:
                    weighted += row_weight[row] * by_row[row] * wave_u[(j * starts[row]) % m].conjugate()
            term = (weighted / (1.0 - decay * wave_u[j].conjugate())).real
            total += term if j == 0 or 2 * j == m else 2.0 * term
    return math.exp(log_front) * total / m / rows


@compiled
def _plane_tilted(steps, times, s, t):  # type: ignore[no-untyped-def]
    """K(s, t) = Σ log((1 + e^{su + tv}) / 2), and the steps' probabilities p = 1 / (1 + e^{−(su + tv)})."""
    log_mgf = 0.0
    p = np.empty(len(times))
    for i in range(len(times)):
        x = s * steps[i, 0] + t * steps[i, 1]
        log_mgf += times[i] * (max(x, 0.0) + math.log1p(math.exp(-abs(x))) - math.log(2.0))
        p[i] = 0.5 + 0.5 * math.tanh(x / 2)
    return log_mgf, p


@compiled
def _row_exponents(starts, bottom, s, t, mean_v, top_u):  # type: ignore[no-untyped-def]
    """sk(v) + tv of the row v nearest to the mean, its minimum over the rows, and the least k(v); infinite if none.

    Rows whose k(v) is above every U are left out.
    """
    shift = lightest = nearest = math.inf
    first_k = top_u + 1
    for row in range(len(starts)):
        if starts[row] > top_u:
            continue
        first_k = min(first_k, starts[row])
        exponent = s * starts[row] + t * (bottom + row)
        lightest = min(lightest, exponent)
        distance = abs(bottom + row - mean_v)
        if distance < nearest:
            shift, nearest = exponent, distance
    return shift, lightest, first_k


@compiled
def _boxes(steps, weights, turn_u, turn_v, m, rows):  # type: ignore[no-untyped-def]
    """Σw, the frequencies of U and of V in a box, and how far Σ w cos(θu + ωv) may change from its middle.

    The sum changes by Σ w|u| per unit of θ and by Σ w|v| per unit of ω at most; a box is as large as changes it by a
    sixth of Σw.
    """
    weight = weight_u = weight_v = 0.0
    for i in range(len(weights)):
        weight += weights[i]
        weight_u += weights[i] * abs(steps[i, 0])
        weight_v += weights[i] * abs(steps[i, 1])
    box_u = max(1, int(weight / (6.0 * weight_u * turn_u))) if weight_u > 0.0 else m
    box_v = max(1, int(weight / (6.0 * weight_v * turn_v))) if weight_v > 0.0 else rows
    slack = 0.5 * (box_u * turn_u * weight_u + box_v * turn_v * weight_v)
    return weight, box_u, box_v, slack


@compiled
def _middle_waves(n_boxes, n_classes, lowest_v, turn_v, box_v):  # type: ignore[no-untyped-def]
    """e^{iωv} for every box, with ω in its middle, and every v of a step."""
    waves = np.empty((n_boxes, n_classes), dtype=np.complex128)
    for box in range(n_boxes):
        omega = turn_v * (box * box_v + 0.5 * (box_v - 1))
        for c in range(n_classes):
            waves[box, c] = complex(math.cos(omega * (c + lowest_v)), math.sin(omega * (c + lowest_v)))
    return waves


@compiled
def _sums_by_v(steps, weights, waves, lowest_v, sums):  # type: ignore[no-untyped-def]
    """Fill in Σ w e^{iθu} over the steps of every v; `waves` are the e^{iθu}."""
    sums[:] = 0.0
    for i in range(len(weights)):
        sums[steps[i, 1] - lowest_v] += weights[i] * waves[i]


@compiled
def _may_count(sums, middles, weight, active):  # type: ignore[no-untyped-def]
    """Mark the boxes where Σ w(1 − cos α) may leave φ above e^{−45}; whether there are any."""
    any_active = False
    for box in range(len(active)):
        bound = weight
        for c in range(len(sums)):
            bound -= sums[c].real * middles[box, c].real - sums[c].imag * middles[box, c].imag
        active[box] = bound <= _NEGLIGIBLE + 9.0
        any_active |= active[box]
    return any_active


@compiled
def _transform_rows(  # type: ignore[no-untyped-def]
    steps, times, p, waves, wave_v, bottom, sums, lowest_v, weight, active, box_v, n_products, most, by_row
):
    """Fill in Σ_q φ(θ, ω) e^{−iωv} of every row v, for one θ; `waves` are the steps' e^{iθu}.

    Frequencies ω = 2πq/rows where φ is negligible are left out. Returns `n_products` with those that it took, or −1 if
    they are more than `most`.
    """
    rows = len(by_row)
    by_row[:] = 0.0
    for box in range(len(active)):
        if not active[box]:
            continue
        for q in range(box * box_v, min((box + 1) * box_v, rows)):
            n_products += len(sums)
            if n_products > most:
                return -1
            # −log|φ| >= Σ w(1 − cos α)
            bound = weight
            for c in range(len(sums)):
                wave = wave_v[(q * (c + lowest_v)) % rows]
                bound -= sums[c].real * wave.real - sums[c].imag * wave.imag
            if bound > _NEGLIGIBLE + 9.0:
                continue
            # φ e^{−iω·bottom}: the product of the steps' (1 − p + p e^{i(θu + ωv)})^times, by repeated squaring
            n_products += len(times) + rows
            phi = wave_v[(-q * bottom) % rows]
            for i in range(len(times)):
                factor = (1.0 - p[i]) + p[i] * waves[i] * wave_v[(q * steps[i, 1]) % rows]
                left = times[i]
                while left > 1:
                    if left & 1:
                        phi *= factor
                    factor *= factor
                    left >>= 1
                phi *= factor
            # e^{−iωv} of row after row
            at = 0
            for row in range(rows):
                by_row[row] += phi * wave_v[at].conjugate()
                at += q
                if at >= rows:
                    at -= rows
    return n_products
