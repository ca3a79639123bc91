# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A verdict in words on errors: what a user needs to know first, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
import math
from typing import Any

import numpy as np
from robot_identification.files import to_finite
from robot_identification.model import EFFORT_UNITS
from robot_identification.validation.bag_errors import BagErrors

GOOD, USABLE, BAD = 'good', 'usable', 'bad'
# What a model is used for; the errors of a verdict are those of the first.
TORQUE, SIMULATION, PAYLOAD = USES = ('torque prediction', 'simulation', 'payload')
# Mean share of the signal's deviation left unexplained. Published models of industrial arms reach
# 5 to 15 % on motor currents of unseen motion; above 30 % the mean friction law is missed.
GOOD_NRMSE, USABLE_NRMSE = 0.15, 0.30
# One joint above this is named, and the whole is no longer good.
JOINT_NRMSE = 0.35
# One joint from here on is predicted no better than by a constant, the mean of its effort: the
# model is not usable for it, however well the others are predicted. By definition.
CONSTANT_NRMSE = 1.0
# A part of the squared error above this is what the error mainly is.
MAIN_SHARE = 0.5
# A prediction is off by a factor outside of this range that leaves less than this part of the
# error; chosen: wrong parameters seldom do the same.
FACTORS, LEFT_BY_FACTOR = (0.75, 1.35), 0.5
# An error is mostly noise from this part of its square on.
NOISE_SHARE = 0.7
# What changes from sample to sample is no noise where the error is smaller: it was predicted. The
# share is left to the error of the estimate, 1 or 2 % of some thousand samples.
LEAST_ERROR_OF_NOISE = 0.95
# The error of one direction over that of the other that is worth a word.
ONE_SIDED = 1.5
# Fewer samples than this say nothing of a direction or speed.
FEWEST_SAMPLES = 50
# Below this rate of the joint states [Hz] a joint passes through its reversal between two samples:
# from -MOVING_SPEED to MOVING_SPEED, 0.02 rad/s either way, takes 20 ms at 2 rad/s^2. The lowest
# vibration of arms, from some 10 Hz on, then has fewer than five samples a period, and motion of
# 5 Hz fewer than ten, which its acceleration needs.
LOW_RATE = 50.0

# A band of 95 % that holds less on another motion is too narrow, and one that holds more too wide;
# chosen: blocks of one recording differ by two or three per cent.
LEAST_COVERAGE, MOST_COVERAGE = 0.9, 0.99


@dataclass(frozen=True)
class DataWarning:
    """A hypothesis of what is wrong with the data or the description, which the data support."""

    name: str  # of the test, see docs/verdict.md
    joints: tuple[str, ...]  # the joints it is about; empty where it is about all
    suspicion: str  # what is suspected
    # What the evidence is a number of; the unit is empty for ratios.
    quantity: str
    unit: str
    # That number, and the one beyond which it is evidence.
    value: float
    threshold: float
    check: str  # what to check on the robot

    def __str__(self) -> str:
        number = f'{self.value:.3g}{" " if self.unit else ""}{self.unit}'
        limit = f'{self.threshold:.3g}{" " if self.unit else ""}{self.unit}'
        return f'{self.suspicion} ({self.quantity} {number}, threshold {limit}): {self.check}'


@dataclass(frozen=True)
class Findings:
    """Findings on a model and its training data besides the errors."""

    # Possible errors of the data or the description, best supported first; with any a model is
    # not good.
    warnings: tuple[DataWarning, ...] = ()
    assumptions: tuple[str, ...] = ()  # what the data cannot tell
    # What contradicts the model although it predicts; with any it is not good.
    contradictions: tuple[str, ...] = ()
    unidentifiable: tuple[str, ...] = ()  # parameters that the training data do not determine
    recommendations: tuple[str, ...] = ()  # what would show them, most important first
    # Joints whose torque depends on the position otherwise than by bodies, found in one motion
    # that repeats itself.
    of_one_motion: tuple[str, ...] = ()


NOTHING_FOUND = Findings()
# What is said of errors on the recordings that a model was identified from, and what then helps.
NOT_INDEPENDENT = 'this is not an independent test: validate on another recording'
ANOTHER_MOTION = 'record a second, different motion and run `validate` on it'
# How a finding of `identify` begins where the model is judged on other data.
OF_TRAINING = 'of the data that the model was identified from:'


def is_low_rate(rate: float) -> bool:
    """Return whether a rate of joint states [Hz] is low."""
    # Clocks and stamps of a driver at the limit are a per cent off.
    return rate < 0.98 * LOW_RATE


@dataclass(frozen=True)
class Bandwidth:
    """Up to which frequency the errors that a verdict is about could be seen."""

    rate: float  # of the joint states, the lowest of all recordings [Hz]
    cutoff: float  # of the kinematics [Hz]; not finite where they are not filtered by frequency

    def describe(self) -> str:
        """Return what the rate and the cut-off hide."""
        motion = (
            f', kinematics smoothed at {self.cutoff:g} Hz' if math.isfinite(self.cutoff) else ''
        )
        seen = f'joint states at {self.rate:.4g} Hz{motion}'
        if not is_low_rate(self.rate):
            return f'{seen}: vibration above {self.rate / 2.0:.4g} Hz is not seen'
        return (
            f'{seen}: at this low rate friction near reversals and vibration above '
            f'{self.rate / 2.0:.4g} Hz are not seen, and the same model can score worse on a '
            f'recording at {LOW_RATE:g} Hz or more'
        )


@dataclass(frozen=True)
class Limit:
    """Reason why a model is worse for one use than its errors."""

    use: str  # {'simulation', 'payload'}
    level: str  # what it is at best for it; {'usable', 'bad'}
    reason: str


@dataclass(frozen=True)
class Verdict:
    """Verdict on a model."""

    level: str  # the verdict, for torque prediction; {'good', 'usable', 'bad'}
    reasons: tuple[str, ...]  # why, most important first
    next_step: str  # what to do
    # Possible errors of the data or the description; they are among the reasons.
    warnings: tuple[DataWarning, ...] = ()
    # What contradicts the model although it predicts; these, too.
    contradictions: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()  # what the data cannot tell, and a user must check
    # Up to which frequency errors could be seen; it is among the reasons.
    bandwidth: Bandwidth | None = None
    errors: tuple[str, ...] = ()  # how large the errors are; among the reasons
    # What speaks against single uses; among the reasons, too.
    limits: tuple[Limit, ...] = ()

    @property
    def uses(self) -> dict[str, str]:
        """Return the level for each use: the worst of that of the errors and of its limits."""
        return {
            use: max(
                (self.level, *(one.level for one in self.limits if one.use == use)),
                key=(GOOD, USABLE, BAD).index,
            )
            for use in USES
        }

    def describe_uses(self) -> str:
        """Return the level for each use, in words."""
        return ', '.join(f'{use} {level.upper()}' for use, level in self.uses.items())

    def limited(self, limits: Sequence[Limit]) -> Verdict:
        """Return the verdict with limits of single uses, which its reasons and next step name."""
        new = [one for one in limits if one not in self.limits]
        if not new:
            return self
        known = {one.use for one in self.limits if one.level == BAD}
        worse = ' or '.join(dict.fromkeys(
            one.use for one in new if one.level == BAD and one.use not in known
        ))
        return replace(
            self,
            limits=(*self.limits, *new),
            reasons=(
                *(f'{one.level.upper()} for {one.use}: {one.reason}' for one in new),
                *self.reasons,
            ),
            next_step=self.next_step + (f'; do not use it for {worse}' if worse else ''),
        )


def join_verdicts(first: Verdict, second: Verdict) -> Verdict:
    """
    Return the worse of two verdicts on one model, with the reasons of both.

    Of verdicts of one level that which names possible errors of the data leads, then the first.
    What one repeats of the training data is left to the other.
    """
    worse, other = sorted(
        (_without_training(first), _without_training(second)), reverse=True,
        key=lambda verdict: ((GOOD, USABLE, BAD).index(verdict.level), bool(verdict.warnings)),
    )
    return replace(
        worse,
        reasons=tuple(dict.fromkeys((*worse.reasons, *other.reasons))),
        warnings=(*worse.warnings, *other.warnings),
        contradictions=tuple(dict.fromkeys((*worse.contradictions, *other.contradictions))),
        assumptions=tuple(dict.fromkeys((*worse.assumptions, *other.assumptions))),
        errors=tuple(dict.fromkeys((*worse.errors, *other.errors))),
        limits=tuple(dict.fromkeys((*worse.limits, *other.limits))),
    )


def _without_training(verdict: Verdict) -> Verdict:
    """Return a verdict without what `findings_in` put into it."""
    return replace(
        verdict,
        reasons=tuple(one for one in verdict.reasons if not one.startswith(OF_TRAINING)),
        warnings=tuple(
            one for one in verdict.warnings if not one.suspicion.startswith(OF_TRAINING)
        ),
        contradictions=tuple(
            one for one in verdict.contradictions if not one.startswith(OF_TRAINING)
        ),
    )


@dataclass(frozen=True)
class _JointError:
    """NRMSE of a joint on a bag, and what it is made of."""

    value: float
    bag: BagErrors
    joint: int

    @property
    def name(self) -> str:
        return self.bag.joints[self.joint]

    @property
    def square(self) -> float:
        """Mean of the squared error."""
        return float(self.bag.rmse[self.joint]) ** 2

    def detail(self, name: str) -> float:
        """Return one of the `ErrorDetails` of the joint; NaN where they were not measured."""
        details = self.bag.details
        return math.nan if details is None else float(getattr(details, name)[self.joint])

    def share(self, samples: str) -> float:
        """Return the part of the squared error of the samples of a kind; 0 of few samples."""
        count = self.detail(f'{samples}_samples')
        if not count >= FEWEST_SAMPLES or not self.square > 0.0:
            return 0.0
        return self.detail(samples) ** 2 * count / (self.square * self.bag.samples)

    @property
    def is_at_rest(self) -> bool:
        """Return whether most of the squared error is at rest, where friction may be anything."""
        return self.share('resting') > MAIN_SHARE

    @property
    def is_noise(self) -> bool:
        """
        Return whether the error of a badly predicted joint is noise from sample to sample.

        Not where corrections predict a part of what changes so fast: it is no noise then.
        """
        floor = self.detail('floor')
        return (
            self.value > JOINT_NRMSE and not math.isfinite(self.detail('uncorrected'))
            and floor**2 >= NOISE_SHARE * self.value**2
            and self.value >= LEAST_ERROR_OF_NOISE * floor
        )


def judge(
    bags: Sequence[BagErrors],
    *,
    unseen: bool,
    training: bool = False,
    findings: Findings = NOTHING_FOUND,
    bandwidth: Bandwidth | None = None,
) -> Verdict:
    """
    Return a verdict on errors on held-out samples.

    `unseen` means samples of another recording than the training data, `training` the training
    data themselves. A badly predicted joint whose error is mostly noise is named and left out of
    the mean that decides the level and is stated first, because no model predicts noise; but the
    level is then not good.
    """
    every = [
        _JointError(float(value), bag, joint)
        for bag in bags for joint, value in enumerate(bag.nrmse)
    ]
    errors = [error for error in every if math.isfinite(error.value)]
    noisy = [error for error in errors if error.is_noise]
    judged = [error for error in errors if not error.is_noise]
    worst = max(judged, key=lambda error: error.value, default=None)
    missing = _unpredicted(judged)
    level = _level(bags, judged, bool(noisy), findings)
    where = 'unseen motion' if unseen else 'held-out parts of the training recording'
    size = _size(bags, judged, noisy, 'training data' if training else where)
    reasons = [*_first_reasons(findings, missing), size]
    missed = worst is not None and worst.value > JOINT_NRMSE
    if worst is not None and missed:
        reasons.append(
            f'{worst.name} is worst: {worst.value:.0%} of the deviation of its effort is not '
            f'explained ({worst.bag.bag})'
        )
    causes = _causes(worst) if worst is not None and (missed or level != GOOD) else []
    reasons += [cause for cause, _ in causes]
    # The joint whose causes are stated has its own line.
    resting = dict.fromkeys(
        error.name for error in judged
        if error.is_at_rest and not (causes and error is worst)
    )
    if resting:
        joints = ', '.join(resting)
        reasons.append(
            f'more than half of the squared error of {joints} is at rest, where friction may have '
            f'any value up to break-away: {_record_rests(joints)}'
        )
    reasons += [
        f'most of the error of {error.name} is change of its effort from sample to sample: of an '
        f'NRMSE of {error.value:.2f}, {error.detail("floor"):.2f} ({error.bag.bag})'
        for error in noisy
    ]
    if noisy and not judged:
        reasons.append('the effort of every joint is mostly noise: nothing can be judged by it')
    reasons += _baseline_reasons(bags, missing)
    reasons += _coverage_reasons(every)
    if findings.of_one_motion:
        reasons.append(
            f'part of the torque of {", ".join(findings.of_one_motion)} depends on the position '
            'otherwise than by bodies: in one motion that repeats itself the bodies take a share '
            'of it, and are wrong in other poses'
        )
    if bandwidth is not None:
        reasons.append(bandwidth.describe())
    if not unseen:
        reasons.append(NOT_INDEPENDENT)
    next_step = _next_step(
        level, (worst.name if worst and missed else '', missing), causes, findings, unseen
    )
    return Verdict(
        level, tuple(reasons), next_step, findings.warnings, findings.contradictions,
        findings.assumptions, bandwidth, (size,),
    )


def _size(
    bags: Sequence[BagErrors], judged: Sequence[_JointError], noisy: Sequence[_JointError],
    where: str,
) -> str:
    """Return how large the errors are."""
    # Of noise alone there is no other mean to state.
    mean = _mean(bags, judged or noisy)
    if not math.isfinite(mean):
        return f'the effort of no joint varies on {where}: nothing can be judged by it'
    names = ', '.join(dict.fromkeys(error.name for error in noisy))
    with_noise = (
        f' ({_mean(bags, [*judged, *noisy]):.3f} with {names}, whose error is mostly noise)'
    ) if judged and noisy else ''
    return f'mean NRMSE {mean:.3f} on {where}{with_noise}'


def _first_reasons(findings: Findings, missing: Sequence[str]) -> Iterator[str]:
    """Yield what makes a model unusable, then what speaks against the data."""
    if missing:
        yield (
            f'the model is not usable for {", ".join(missing)}: a constant, the mean of the '
            'effort, predicts as well'
        )
    if findings.unidentifiable:
        yield f'the data do not determine {", ".join(findings.unidentifiable)}'
    yield from map(str, findings.warnings)
    yield from findings.contradictions


def _level(
    bags: Sequence[BagErrors], judged: Sequence[_JointError], some_noisy: bool, findings: Findings
) -> str:
    mean = _mean(bags, judged)
    if findings.unidentifiable or _unpredicted(judged) or not mean <= USABLE_NRMSE:
        return BAD
    is_clear = not (
        some_noisy or findings.warnings or findings.contradictions or _is_beaten(bags)
    )
    all_fair = all(error.value <= JOINT_NRMSE for error in judged)
    return GOOD if mean <= GOOD_NRMSE and all_fair and is_clear else USABLE


def _mean(bags: Sequence[BagErrors], errors: Sequence[_JointError]) -> float:
    """Return the mean over bags of the mean NRMSE of some joints; NaN without any."""
    of_bags = [[error.value for error in errors if error.bag is bag] for bag in bags]
    means = [float(np.mean(values)) for values in of_bags if values]
    return float(np.mean(means)) if means else math.nan


def _unpredicted(judged: Sequence[_JointError]) -> tuple[str, ...]:
    """Return the joints that move and are predicted no better than by a constant, on average."""
    values: dict[str, list[float]] = {}
    for error in judged:
        if not error.is_at_rest:
            values.setdefault(error.name, []).append(error.value)
    return tuple(
        name for name, found in values.items() if float(np.mean(found)) >= CONSTANT_NRMSE
    )


def _is_beaten(bags: Sequence[BagErrors]) -> bool:
    """Return whether the URDF alone predicts no worse, in the mean of all that is known."""
    ours, urdf = _against_urdf(bags)
    return bool(ours.size and urdf.mean() <= ours.mean())


def _against_urdf(bags: Sequence[BagErrors]) -> tuple[np.ndarray, np.ndarray]:
    """Return the NRMSE of the model and of the URDF, joint by joint, where both are known."""
    pairs = np.array([
        (value, other) for bag in bags
        for value, other in zip(bag.nrmse, bag.urdf_nrmse, strict=True)
    ]).reshape(-1, 2)
    ours, urdf = pairs[np.isfinite(pairs).all(axis=1)].T
    return ours, urdf


def bandwidth_content(bandwidth: Bandwidth | None) -> dict[str, float | None] | None:
    """Return a bandwidth as plain values."""
    return None if bandwidth is None else dict(to_finite(asdict(bandwidth)))


def verdict_content(verdict: Verdict) -> dict[str, Any]:
    """Return findings and bandwidth of a verdict as plain values."""
    return {
        'warnings': [
            {**asdict(warning), 'joints': list(warning.joints)} for warning in verdict.warnings
        ],
        'contradictions': list(verdict.contradictions),
        'assumptions': list(verdict.assumptions),
        'bandwidth': bandwidth_content(verdict.bandwidth),
        **uses_content(verdict),
    }


def uses_content(verdict: Verdict) -> dict[str, Any]:
    """Return the level for each use, and what limits single ones, as plain values."""
    return {'uses': verdict.uses, 'limits': [asdict(one) for one in verdict.limits]}


def limits_in(content: Mapping[str, Any]) -> tuple[Limit, ...]:
    """Return the limits of single uses in plain values, which a file may have damaged."""
    found = []
    for one in _entries(content, 'limits'):
        stated = one if isinstance(one, dict) else {}
        use, level = stated.get('use'), stated.get('level')
        known = use in USES and level in (USABLE, BAD)
        found += [Limit(str(use), str(level), str(stated.get('reason', '')))] if known else [
            Limit(use, BAD, f'a limit of the model cannot be read ({one!s:.80})')
            for use in (SIMULATION, PAYLOAD)
        ]
    return tuple(found)


def findings_in(content: Mapping[str, Any]) -> Findings:
    """
    Return what the verdict of plain values found in the data that a model was made of.

    These are of a file, which may be damaged: an entry that cannot be read counts as a finding.
    """
    warnings: list[DataWarning] = []
    texts: list[str] = []
    for stated in _entries(content, 'warnings'):
        try:
            warnings.append(DataWarning(
                str(stated['name']), tuple(map(str, stated['joints'])),
                f'{OF_TRAINING} {stated["suspicion"]}', str(stated['quantity']),
                str(stated['unit']), float(stated['value']), float(stated['threshold']),
                str(stated['check']),
            ))
        except (KeyError, TypeError, ValueError):
            texts.append(f'a warning that cannot be read ({stated!s:.80})')
    texts += map(str, _entries(content, 'contradictions'))
    return Findings(
        warnings=tuple(warnings), contradictions=tuple(f'{OF_TRAINING} {text}' for text in texts)
    )


def _entries(content: Mapping[str, Any], name: str) -> list[Any]:
    """Return the entries of a list, or what stands in its place as the only one."""
    found = content.get(name)
    if found is None:
        return []
    return found if isinstance(found, list) else [found]


def _causes(error: _JointError) -> list[tuple[str, str]]:
    """Return what the error of a joint mainly is, and what to do about it."""
    bag, square, name = error.bag, error.square, error.name
    if bag.details is None or not square > 0.0:
        return []
    bias, factor = float(bag.bias[error.joint]), error.detail('factor')
    # An offset is no factor.
    varying = error.value * max(1.0 - bias**2 / square, 0.0) ** 0.5
    if not FACTORS[0] < factor < FACTORS[1] and error.detail('scaled') < LEFT_BY_FACTOR * varying:
        check = (
            f'check sign, unit and drive gain of the effort of {name}, in this recording and in '
            'those that the model was identified from'
        )
        return [(
            f'the effort of {name} is {factor:.2g} times the prediction, and with that factor and '
            f'an offset its NRMSE would be {error.detail("scaled"):.3f}: {check}', check,
        )]
    causes = []
    if bias**2 > MAIN_SHARE * square:
        causes.append((
            f'most of the error of {name} is a constant offset of {bias:.2g} '
            f'{EFFORT_UNITS[bag.unit].symbol} (measured minus predicted)',
            f'look for what pushes {name} one way: an unmodelled payload or cable, a wrong '
            'mounting, a zero of the current sensor that moved; include `offset` in the friction',
        ))
    # Better and worse direction of motion.
    better, worse = sorted(('forward', 'backward'), key=error.detail)
    fewest = min(error.detail(f'{side}_samples') for side in (better, worse))
    if fewest >= FEWEST_SAMPLES and error.detail(better) > 0.0 and (
        error.detail(worse) >= ONE_SIDED * error.detail(better)
    ):
        causes.append((
            f'{name} is {error.detail(worse) / error.detail(better):.1f} times worse moving '
            f'{worse}',
            f'let the friction of {name} depend on the direction (`asymmetric`)',
        ))
    if error.is_at_rest:
        causes.append((
            f'{error.share("resting"):.0%} of the squared error of {name} is at rest, where '
            'friction may have any value up to break-away',
            f'{_record_rests(name)}; judge motion by `rmse_moving`',
        ))
    if error.share('slow') > MAIN_SHARE:
        causes.append((
            f'{error.share("slow"):.0%} of the squared error of {name} is at low speed',
            f'record slow reversals of {name} and choose friction for them (`--friction auto` or '
            '`stribeck`)',
        ))
    if not causes and error.detail('high') ** 2 > MAIN_SHARE * square:
        causes.append((
            f'most of the error of {name} is above {bag.details.split:g} Hz, faster than the '
            'motion: vibration or noise that neighbouring samples share',
            'compare at the frequencies you need; look for elasticity or a controller that '
            'oscillates',
        ))
    return causes


def _coverage_reasons(errors: Sequence[_JointError]) -> list[str]:
    """Return where the stated band holds too little of the effort, or nearly all of it."""
    narrow, wide = [], []
    for error in errors:
        resting = error.detail('resting_samples')
        for where, kind, count in (
            ('in motion', 'moving', error.bag.samples - resting), ('at rest', 'resting', resting),
        ):
            share = error.detail(f'covered_{kind}')
            if count >= FEWEST_SAMPLES and share < LEAST_COVERAGE:
                narrow.append((share, f'{error.name} {where} ({share:.0%})'))
            elif count >= FEWEST_SAMPLES and share > MOST_COVERAGE and kind == 'moving':
                wide.append((-share, f'{error.name} ({share:.1%})'))
    # The worst first.
    reasons = []
    if narrow:
        reasons.append(
            'the band of 95 % that the model states of its prediction holds less of the effort of '
            f'{", ".join(name for _, name in sorted(narrow))}: do not rely on it there'
        )
    if wide:
        reasons.append(
            'the band of 95 % is wider than the errors need in motion, for '
            f'{", ".join(name for _, name in sorted(wide))}'
        )
    return reasons


def _record_rests(joints: str) -> str:
    return (
        f'record stops from point to point and slow reversals of {joints} to identify from '
        '(`segments: stops, slow_reversals` in the experiment file)'
    )


def _baseline_reasons(bags: Sequence[BagErrors], said: Sequence[str]) -> list[str]:
    reasons = []
    constant = dict.fromkeys(
        name
        for bag in bags
        for value, name in zip(bag.nrmse, bag.joints, strict=True)
        if math.isfinite(value) and value >= CONSTANT_NRMSE and name not in said
    )
    if constant:
        reasons.append(
            f'a constant, the mean of the effort, does as well for {", ".join(constant)}'
        )
    if _is_beaten(bags):
        ours, urdf = _against_urdf(bags)
        reasons.append(
            f'the URDF without friction does as well: mean NRMSE {urdf.mean():.3f} against '
            f'{ours.mean():.3f}'
        )
    return reasons


def _next_step(
    level: str, joints: tuple[str, Sequence[str]], causes: Sequence[tuple[str, str]],
    findings: Findings, unseen: bool,
) -> str:
    """
    Return what to do.

    The joints are the worst one, if it is badly predicted, and those that it is not usable for.
    """
    if findings.unidentifiable:
        if findings.recommendations:
            return 'record another motion: ' + '; '.join(findings.recommendations)
        return 'record a motion in which every joint moves fast and slowly, both ways'
    if findings.warnings:
        return findings.warnings[0].check
    if findings.contradictions and level != BAD:
        return f'clear this up before you use the model: {findings.contradictions[0]}'
    missed, unusable = joints
    if unusable:
        return (
            f'look at {", ".join(unusable)} in the report, over the whole recording: a sign, a '
            'gain or an order of joints that changed on the way is the usual cause; leave that '
            'part out with --start and --stop, or record again'
        )
    if level == BAD:
        return 'run `doctor` on the bag: check joint names, effort unit, drive gains and mounting'
    if causes:
        return causes[0][1]
    if missed:
        return (
            f'look at {missed} in the report: a low torque next to its friction, a wrong drive '
            'gain or an unmodelled payload are the usual causes'
        )
    return _step_of_good(findings, unseen)


def _step_of_good(findings: Findings, unseen: bool) -> str:
    """Return what to do with a model that nothing speaks against."""
    if findings.of_one_motion:
        return 'record a second, different motion and identify from both'
    if not unseen:
        return ANOTHER_MOTION
    return 'use it; validate again when payload, mounting or temperature change'
