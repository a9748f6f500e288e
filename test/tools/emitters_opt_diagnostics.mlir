// emitters_opt --verify-diagnostics: errors where comments say, and nothing else.
// RUN: emitters_opt %s --split-input-file --verify-diagnostics
// RUN: emitters_opt %s --verify-diagnostics --canonicalize

// RUN: sed -e s/@+1/@+2/ %s > %t.place
// RUN: python3 %S/inputs/fails.py 1 emitters_opt %t.place --verify-diagnostics | FileCheck %s --check-prefix=PLACE
// PLACE: error: diagnostics differ:
// PLACE: unexpected error "use of
// PLACE: did not come
// RUN: sed -e s/undeclared/another/ %s > %t.text
// RUN: python3 %S/inputs/fails.py 1 emitters_opt %t.text --verify-diagnostics | FileCheck %s --check-prefix=TEXT
// TEXT: line {{[0-9]+}}: expected error "use of another SSA value name" did not come
// RUN: sed -e s/}}// %s > %t.open
// RUN: python3 %S/inputs/fails.py 1 emitters_opt %t.open --verify-diagnostics | FileCheck %s --check-prefix=OPEN
// OPEN: error: line {{[0-9]+}}: found {{expected.error}} without {{[{][{]}}message{{[}][}]}}

func.func @fine(%a: index) -> index {
  return %a : index
}

// -----

func.func @wrong() -> index {
  // expected-error@+1 {{use of undeclared SSA value name}}
  return %a : index
}

// -----

func.func @pattern(%a: f32) -> index {
  // expected-error-re @below {{type {{.*}} doesn't match function result type}}
  return %a : f32
}
