"""chain.py COUNT: so many operations, products and functions of their results, one after the other, as HLO text."""
import sys

count = int(sys.argv[1]) // 2
print("HloModule chain\nENTRY main {\n  x = f32[256,64] parameter(0)\n  w = f32[64,64] parameter(1)")
last = "x"
for k in range(count):
    print(f"  d{k} = f32[256,64] dot({last}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}")
    print(f"  {'ROOT ' if k == count - 1 else ''}t{k} = f32[256,64] tanh(d{k})")
    last = f"t{k}"
print("}")
