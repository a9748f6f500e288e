"""How far results are from each other. NaN agrees with NaN alone, an infinity with itself alone."""
import math

import numpy


def same(found, right):
    return (found == right) | (numpy.isnan(found) & numpy.isnan(right))


def relative(found, right):
    """The largest |found - right| over the largest finite |right|; NaN if one of a pair is NaN and the other is not."""
    kind = numpy.complex128 if numpy.iscomplexobj(right) else numpy.float64
    found, right = (numpy.asarray(x).astype(kind) for x in (found, right))
    different = ~same(found, right)
    if not different.any():
        return 0.0
    sizes = numpy.abs(right)
    scale = numpy.max(sizes, initial=1e-30, where=numpy.isfinite(sizes))
    with numpy.errstate(invalid="ignore"):
        return float(numpy.abs(found - right)[different].max() / scale)


def worst(differences):
    """The largest, which is NaN if one of them is: max() would take NaN for whatever stands before it."""
    differences = list(differences)
    if any(math.isnan(difference) for difference in differences):
        return math.nan
    return max(differences, default=0.0)


def ulps(found, right):
    """The largest number of steps from one 16-bit float to another; infinity if one of a pair is NaN and the other is not."""
    ranks = []
    for bits in (numpy.asarray(x).view(numpy.uint16).astype(numpy.int32) for x in (found, right)):
        ranks.append(numpy.where(bits & 0x8000, -(bits & 0x7fff), bits))
    lone = numpy.isnan(numpy.asarray(found)) != numpy.isnan(numpy.asarray(right))
    if lone.any():
        return math.inf
    steps = numpy.abs(ranks[0] - ranks[1])
    return int(numpy.max(steps, initial=0, where=~numpy.isnan(numpy.asarray(right))))
