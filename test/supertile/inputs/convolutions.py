"""convolutions.py COUNT: so many convolutions, each with a function of what the one before it gives, as HLO text."""
import sys

count = int(sys.argv[1])
print("HloModule convolutions\nENTRY main {\n  x = f32[1,64,64,16] parameter(0)\n  w = f32[3,3,16,16] parameter(1)")
last = "x"
for k in range(count):
    print(f"  c{k} = f32[1,64,64,16] convolution({last}, w), window={{size=3x3 pad=1_1x1_1}}, dim_labels=b01f_01io->b01f")
    print(f"  {'ROOT ' if k == count - 1 else ''}t{k} = f32[1,64,64,16] tanh(c{k})")
    last = f"t{k}"
print("}")
