# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Whiteness of residuals.

A model that explains all that motion can explain leaves noise behind that neighbouring samples
do not share. Statistics that count every sample as new evidence are wrong by as much as they do.

References
----------
.. [1] G. M. Ljung, G. E. P. Box, "On a measure of lack of fit in time series models",
   Biometrika 65(2), 1978.

"""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray
import scipy

# Correlations below this many standard deviations of a white signal's are chance.
CHANCE = 2.0
# Lags of the portmanteau test: more find less, as each adds a correlation that may be none.
TESTED_LAGS = 10


def autocovariance(x: FloatArray, lags: int) -> FloatArray:
    """
    Return the sums (n, lags + 1) over k of ``x[k] * x[k + lag]`` for each signal.

    Signals `x` (N, n) have zero mean, and zero where samples are missing; `lags` is the largest
    lag. Sums are zero where the signal is shorter than the lag.
    """
    N, n = x.shape
    products = np.zeros((n, lags + 1))
    kept = min(lags + 1, N)
    size = 1 << (N + kept).bit_length()
    for joint in range(n):
        spectrum = np.fft.rfft(x[:, joint], size)
        products[joint, :kept] = np.fft.irfft(np.abs(spectrum) ** 2, size)[:kept]
    return products


def _leading_correlations(products: FloatArray, samples: int) -> FloatArray:
    """Return the autocorrelations from lag 1 to before the first one that may be chance."""
    if not products[0] > 0.0:
        return np.zeros(0)
    correlation = products[1:] / products[0]
    chance = np.flatnonzero(correlation < CHANCE / np.sqrt(samples))
    leading: FloatArray = correlation[: chance[0] if chance.size else len(correlation)]
    return leading


def correlation_distance(products: FloatArray, samples: int) -> float:
    """
    Return the mean distance of correlated samples, in samples; 0 for white noise.

    `products` (lags + 1,) is the autocovariance of so many samples. A window of m samples misses
    the share distance / m of the variance of a sum, so compare its length with the distance.
    """
    leading = _leading_correlations(products, samples)
    lags = np.arange(1, len(leading) + 1)
    return float(2.0 * lags @ leading / (1.0 + 2.0 * leading.sum()))


def independent_share(products: FloatArray, samples: int) -> float:
    """
    Return the number of independent samples that determine a mean as well, as a share.

    Arguments are those of `correlation_distance`.
    """
    return float(1.0 / (1.0 + 2.0 * _leading_correlations(products, samples).sum()))


def ljung_box(products: FloatArray, samples: int) -> float:
    """
    Return the probability that white noise is as correlated, by the Ljung-Box test [1]_.

    `products` and `samples` are those of `correlation_distance`. The portmanteau test adds up the
    correlations of the first TESTED_LAGS lags, because slow errors show in many of them and little
    in each. With thousands of samples it rejects negligible correlation; `independent_share` gives
    its size. NaN without a lag or a variance.
    """
    lags = min(TESTED_LAGS, len(products) - 1, samples - 1)
    if lags < 1 or not products[0] > 0.0:
        return float('nan')
    correlation = products[1: lags + 1] / products[0]
    statistic = samples * (samples + 2.0) * np.sum(
        correlation**2 / (samples - np.arange(1, lags + 1))
    )
    return float(scipy.special.chdtrc(lags, statistic))
