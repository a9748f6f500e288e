"""NaN never counts as agreement with a number: `make bench` runs this before it measures, the unit tests where there is
NumPy (exit status 77 where there is none)."""
import math
import sys
import unittest

try:
    import numpy
except ImportError:
    print("NumPy is not there, which bench/difference.py needs")
    sys.exit(77)

import difference

NAN, INF = math.nan, math.inf


def array(*values, kind=numpy.float32):
    return numpy.array(values, dtype=kind)


class Relative(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual(difference.relative(array(1, 3), array(1, 4)), 0.25)

    def test_a_lone_nan_is_no_agreement(self):
        self.assertTrue(math.isnan(difference.relative(array(1, NAN), array(1, 4))))
        self.assertTrue(math.isnan(difference.relative(array(1, 4), array(1, NAN))))

    def test_equal_ones_agree(self):
        self.assertEqual(difference.relative(array(NAN, INF, 2), array(NAN, INF, 2)), 0)

    def test_infinity_is_far_from_a_number(self):
        self.assertEqual(difference.relative(array(INF, 2), array(1, 2)), INF)
        self.assertEqual(difference.relative(array(1, 2), array(INF, 2)), INF)

    def test_imaginary_parts_count(self):
        self.assertEqual(difference.relative(array(1j, kind=numpy.complex64), array(-1j, kind=numpy.complex64)), 2)

    def test_nothing(self):
        self.assertEqual(difference.relative(array(), array()), 0)


class Worst(unittest.TestCase):
    def test_nan_wins_wherever_it_stands(self):
        for order in ((0.5, NAN), (NAN, 0.5)):
            self.assertTrue(math.isnan(difference.worst(order)))
        self.assertEqual(difference.worst((0.25, 0.5)), 0.5)


class Ulps(unittest.TestCase):
    def test_steps(self):
        one = array(1, -1, kind=numpy.float16)
        self.assertEqual(difference.ulps(one, one), 0)
        self.assertEqual(difference.ulps(numpy.nextafter(one, numpy.float16(2)), one), 1)
        self.assertEqual(difference.ulps(array(-0.0, kind=numpy.float16), array(0, kind=numpy.float16)), 0)

    def test_nan(self):
        number, nan = array(1, kind=numpy.float16), array(NAN, kind=numpy.float16)
        self.assertEqual(difference.ulps(nan, number), INF)
        self.assertEqual(difference.ulps(number, nan), INF)
        self.assertEqual(difference.ulps(nan, -nan), 0)


if __name__ == "__main__":
    unittest.main()
