// The complementary error function and the inverse of the error function.
//
// erfc follows Cephes (S. Moshier): 1 - erf(x) near zero, exp(-x²) times a rational function beyond. A rounding error
// of x² would be multiplied by x² in the exponential, so exp(-x²) is taken in two factors: of a shortened x, whose
// square is exact, and of the small rest. The inverse follows M. Giles, "Approximating the erfinv function" (2012):
// polynomials in w = -log(1 - x²), with 1 - x² as a product, which stays exact where x is close to 1.
#include <math.h>

#include "stablehlo/build.h"
#include "stablehlo/chlo_math.h"

#define POLYNOMIAL(l, x, coefficients) \
  polynomial(l, x, (int)(sizeof(coefficients) / sizeof *(coefficients)), coefficients)

// Horner's rule; the highest power's coefficient first.
static instruction *polynomial(lowering *l, instruction *x, int count, const double *coefficients) {
  instruction *sum = build_like(l, x, coefficients[0]);
  for (int k = 1; k < count; k++) {
    instruction *product = build_binary(l, HLO_MULTIPLY, sum, x);
    sum = build_binary(l, HLO_ADD, product, build_like(l, x, coefficients[k]));
  }
  return sum;
}

// x with so few bits left that its square is exact.
static instruction *shorten(lowering *l, instruction *x) {
  bool is_f64 = x->shape->dtype == DTYPE_F64;
  instruction *i = build_add(l, HLO_REDUCE_PRECISION, x->shape, 1, &x);
  build_set_int(i, HLO_ATTRIBUTE_EXPONENT_BITS, is_f64 ? 11 : 8);
  build_set_int(i, HLO_ATTRIBUTE_MANTISSA_BITS, is_f64 ? 25 : 11);
  return i;
}

// exp(-x²) for finite x >= 0.
static instruction *exp_of_square(lowering *l, instruction *x) {
  instruction *head = shorten(l, x);
  instruction *minus_square = build_unary(l, HLO_NEGATE, build_binary(l, HLO_MULTIPLY, head, head));
  instruction *difference = build_binary(l, HLO_SUBTRACT, head, x);
  instruction *rest = build_binary(l, HLO_MULTIPLY, difference, build_binary(l, HLO_ADD, head, x));
  instruction *of_head = build_unary(l, HLO_EXPONENTIAL, minus_square);
  return build_binary(l, HLO_MULTIPLY, of_head, build_unary(l, HLO_EXPONENTIAL, rest));
}

// erfc(x) exp(x²) for x >= 1.
static instruction *scaled_erfc_f32(lowering *l, instruction *x) {
  static const double below_two[] = {2.326819970068386e-2,  -1.387039388740657e-1, 3.687424674597105e-1,
                                     -5.824733027278666e-1, 6.210004621745983e-1,  -4.944515323274145e-1,
                                     3.404879937665872e-1,  -2.741127028184656e-1, 5.638259427386472e-1};
  static const double above_two[] = {-1.047766399936249e+1, 1.297719955372516e+1,  -7.495518717768503e+0,
                                     2.921019019210786e+0,  -1.015265279202700e+0, 4.218463358204948e-1,
                                     -2.820767439740514e-1, 5.641895067754075e-1};
  instruction *one = build_like(l, x, 1);
  instruction *q = build_binary(l, HLO_DIVIDE, one, build_binary(l, HLO_MULTIPLY, x, x));
  instruction *is_below = build_compare(l, x, build_like(l, x, 2), COMPARE_LT);
  instruction *below = POLYNOMIAL(l, q, below_two);
  instruction *above = POLYNOMIAL(l, q, above_two);
  return build_binary(l, HLO_DIVIDE, build_select(l, is_below, below, above), x);
}

static instruction *scaled_erfc_f64(lowering *l, instruction *x) {
  static const double p[] = {2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687,
                             4.86371970985681366614e1,   1.96520832956077098242e2,  5.26445194995477358631e2,
                             9.34528527171957607540e2,   1.02755188689515710272e3,  5.57535335369399327526e2};
  static const double q[] = {1,
                             1.32281951154744992508e1,
                             8.67072140885989742329e1,
                             3.54937778887819891062e2,
                             9.75708501743205489753e2,
                             1.82390916687909736289e3,
                             2.24633760818710981792e3,
                             1.65666309194161350182e3,
                             5.57535340817727675546e2};
  static const double r[] = {5.64189583547755073984e-1, 1.27536670759978104416, 5.01905042251180477414,
                             6.16021097993053585195,    7.40974269950448939160, 2.97886665372100240670};
  static const double s[] = {1,
                             2.26052863220117276590,
                             9.39603524938001434673,
                             1.20489539808096656605e1,
                             1.70814450747565897222e1,
                             9.60896809063285878198,
                             3.36907645100081516050};
  instruction *is_below = build_compare(l, x, build_like(l, x, 8), COMPARE_LT);
  instruction *p_of_x = POLYNOMIAL(l, x, p);
  instruction *below = build_binary(l, HLO_DIVIDE, p_of_x, POLYNOMIAL(l, x, q));
  instruction *r_of_x = POLYNOMIAL(l, x, r);
  instruction *above = build_binary(l, HLO_DIVIDE, r_of_x, POLYNOMIAL(l, x, s));
  return build_select(l, is_below, below, above);
}

instruction *chlo_erfc(lowering *l, instruction *x) {
  bool is_f64 = x->shape->dtype == DTYPE_F64;
  instruction *size = build_unary(l, HLO_ABS, x);
  // Beyond 28 (11) the result is zero; the polynomials would give 0 * infinity for infinite x.
  instruction *bounded = build_binary(l, HLO_MINIMUM, size, build_like(l, x, is_f64 ? 28 : 11));
  instruction *scaled = is_f64 ? scaled_erfc_f64(l, bounded) : scaled_erfc_f32(l, bounded);
  instruction *tail = build_binary(l, HLO_MULTIPLY, exp_of_square(l, bounded), scaled);
  instruction *is_negative = build_compare(l, x, build_like(l, x, 0), COMPARE_LT);
  instruction *reflected = build_binary(l, HLO_SUBTRACT, build_like(l, x, 2), tail);
  instruction *far = build_select(l, is_negative, reflected, tail);
  instruction *near = build_binary(l, HLO_SUBTRACT, build_like(l, x, 1), build_unary(l, HLO_ERF, x));
  // For x in (-1, 1) the difference loses no more than the last bits.
  instruction *is_far = build_compare(l, size, build_like(l, x, 1), COMPARE_GE);
  return build_select(l, is_far, far, near);
}

static instruction *erf_inv_f32(lowering *l, instruction *w) {
  static const double centre[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                  -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  static const double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  instruction *in_centre = build_compare(l, w, build_like(l, w, 5), COMPARE_LT);
  instruction *root = build_unary(l, HLO_SQRT, w);
  instruction *of_centre = build_binary(l, HLO_SUBTRACT, w, build_like(l, w, 2.5));
  instruction *of_tail = build_binary(l, HLO_SUBTRACT, root, build_like(l, w, 3));
  instruction *centre_value = POLYNOMIAL(l, of_centre, centre);
  instruction *tail_value = POLYNOMIAL(l, of_tail, tail);
  return build_select(l, in_centre, centre_value, tail_value);
}

static instruction *erf_inv_f64(lowering *l, instruction *w) {
  static const double centre[] = {
      -3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,  1.115787767802518096e-17,
      -1.333171662854620906e-16,  2.0972767875968561637e-17,  6.6376381343583238325e-15,  -4.0545662729752068639e-14,
      -8.1519341976054721522e-14, 2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
      1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08, 4.2347877827932403518e-07,
      -1.3654692000834678645e-06, -1.3882523362786468719e-05, 0.0001867342080340571352,   -0.00074070253416626697512,
      -0.0060336708714301490533,  0.24015818242558961693,     1.6536545626831027356};
  static const double middle[] = {
      2.2137376921775787049e-09,  9.0756561938885390979e-08, -2.7517406297064545428e-07, 1.8239629214389227755e-08,
      1.5027403968909827627e-06,  -4.013867526981545969e-06, 2.9234449089955446044e-06,  1.2475304481671778723e-05,
      -4.7318229009055733981e-05, 6.8284851459573175448e-05, 2.4031110387097893999e-05,  -0.0003550375203628474796,
      0.00095328937973738049703,  -0.0016882755560235047313, 0.0024914420961078508066,   -0.0037512085075692412107,
      0.005370914553590063617,    1.0052589676941592334,     3.0838856104922207635};
  static const double tail[] = {-2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
                                -3.7894654401267369937e-09, 7.6157012080783393804e-09,  -1.4960026627149240478e-08,
                                2.9147953450901080826e-08,  -6.7711997758452339498e-08, 2.2900482228026654717e-07,
                                -9.9298272942317002539e-07, 4.5260625972231537039e-06,  -1.9681778105531670567e-05,
                                7.5995277030017761139e-05,  -0.00021503011930044477347, -0.00013871931833623122026,
                                1.0103004648645343977,      4.8499064014085844221};
  instruction *in_centre = build_compare(l, w, build_like(l, w, 6.25), COMPARE_LT);
  instruction *in_middle = build_compare(l, w, build_like(l, w, 16), COMPARE_LT);
  instruction *root = build_unary(l, HLO_SQRT, w);
  instruction *of_centre = build_binary(l, HLO_SUBTRACT, w, build_like(l, w, 3.125));
  instruction *of_middle = build_binary(l, HLO_SUBTRACT, root, build_like(l, w, 3.25));
  instruction *of_tail = build_binary(l, HLO_SUBTRACT, root, build_like(l, w, 5));
  instruction *centre_value = POLYNOMIAL(l, of_centre, centre);
  instruction *middle_value = POLYNOMIAL(l, of_middle, middle);
  instruction *tail_value = POLYNOMIAL(l, of_tail, tail);
  return build_select(l, in_centre, centre_value, build_select(l, in_middle, middle_value, tail_value));
}

instruction *chlo_erf_inv(lowering *l, instruction *x) {
  instruction *one = build_like(l, x, 1);
  instruction *below = build_binary(l, HLO_SUBTRACT, one, x);
  instruction *above = build_binary(l, HLO_ADD, one, x);
  instruction *w = build_unary(l, HLO_NEGATE, build_unary(l, HLO_LOG, build_binary(l, HLO_MULTIPLY, below, above)));
  instruction *ratio = x->shape->dtype == DTYPE_F64 ? erf_inv_f64(l, w) : erf_inv_f32(l, w);
  instruction *result = build_binary(l, HLO_MULTIPLY, ratio, x);
  instruction *at_end = build_compare(l, build_unary(l, HLO_ABS, x), one, COMPARE_EQ);
  instruction *infinite = build_binary(l, HLO_MULTIPLY, x, build_like(l, x, INFINITY));
  return build_select(l, at_end, infinite, result);
}
