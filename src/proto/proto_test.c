// HLO protos: another program's files, what is refused and how, damaged bytes.
#include "proto/proto.h"

#include "base/arena_testing.h"
#include "base/file.h"
#include "eval/evaluate.h"
#include "hlo/text.h"

#define INPUTS HEDDLE_SOURCE_DIR "/test/import/inputs/"

static void ok(heddle_status status) {
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
}

static str contents(arena *a, const char *path) {
  str bytes;
  ok(file_read(a, path, &bytes));
  return bytes;
}

static const str *module_attribute_of(const module *m, const char *name) {
  for (int k = 0; k < m->attributes.size; k++)
    if (str_is(m->attributes.data[k].name, name)) return &m->attributes.data[k].value;
  return NULL;
}

// XLA made attributes.pb, and the text from the same module: every attribute and element type, in the fields it uses.
static void test_attributes(void **state) {
  arena *a = *state;
  module *wanted, *found;
  static const char *const carried[] = {"buffer_donor", "entry_computation_layout", "frontend_attributes"};
  ok(hlo_parse_file(a, INPUTS "attributes.hlo", &wanted));
  ok(proto_read(a, "attributes.pb", contents(a, INPUTS "attributes.pb"), &found, NULL, NULL, NULL));
  for (size_t k = 0; k < sizeof carried / sizeof *carried; k++) {
    const str *l = module_attribute_of(wanted, carried[k]), *r = module_attribute_of(found, carried[k]);
    assert_non_null(l);
    assert_non_null(r);
    assert_int_equal(l->size, r->size);
    assert_memory_equal(l->data, r->data, l->size);
  }
  wanted->attributes.size = found->attributes.size = 0;
  ok(module_compare(wanted, found));
}

// A program with one run of it: the interpreter must come to the same result.
static void check_snapshot(arena *a, const char *path, bool is_text) {
  module *m;
  int count;
  literal **arguments, *wanted, *found;
  str bytes = contents(a, path);
  assert_int_equal(proto_is(bytes), !is_text);
  assert_int_equal(proto_is_text(bytes), is_text);
  ok(is_text ? proto_read_text(a, path, bytes, &m, &count, &arguments, &wanted)
             : proto_read(a, path, bytes, &m, &count, &arguments, &wanted));
  assert_int_equal(count, 2);
  assert_non_null(wanted);
  ok(eval_module(a, m, count, arguments, &found));
  assert_true(literal_identical(wanted, found));
}

static void test_snapshot(void **state) { check_snapshot(*state, INPUTS "snapshot.pb", false); }
static void test_snapshot_text(void **state) { check_snapshot(*state, INPUTS "snapshot.pbtxt", true); }

// Counts of devices have no field of their own.
static void test_devices(void **state) {
  arena *a = *state;
  module *m;
  text bytes = {0};
  ok(hlo_parse(a, "test.hlo",
               STR("HloModule m, replica_count=2, num_partitions=3\nENTRY e { ROOT p = f32[] parameter(0) }"), &m));
  ok(proto_write(&bytes, m));
  ok(proto_read(a, "test.pb", text_view(&bytes), &m, NULL, NULL, NULL));
  text_free(&bytes);
  assert_true(str_is(*module_attribute_of(m, "replica_count"), "2"));
  assert_true(str_is(*module_attribute_of(m, "num_partitions"), "3"));
}

static void test_layouts(void **state) {
  static const char *const layouts[] = {"",
                                        "{0,1}",
                                        "{1,0:T(2,128)(*,2)}",
                                        "{0,1:L(4)E(32)S(3)}",
                                        "{1,0:M(8)}",
                                        "{1,0:SC(0:9223372036854775806)M(9223372036854775807)}",
                                        "{1,0:S(5)SC(1:2,4)(0:3)}",
                                        "{0,1:T(2)SC(1:2)M(16)}"};
  arena *a = *state;
  for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
    module *wanted, *found;
    text bytes = {0};
    const char *source = arena_printf(a, "HloModule m\nENTRY e { ROOT p = f32[<=4,6]%s parameter(0) }", layouts[k]);
    ok(hlo_parse(a, "test.hlo", str_from(source), &wanted));
    ok(proto_write(&bytes, wanted));
    ok(proto_read(a, "test.pb", text_view(&bytes), &found, NULL, NULL, NULL));
    text_free(&bytes);
    found->attributes.size = 0;
    ok(module_compare(wanted, found));
  }
}

// Fields that only other versions of XLA write: its HLO text says the same.
typedef struct other_form {
  const char *fields;  // of an all-reduce
  const char *text;    // its attributes
} other_form;

static const other_form other_forms[] = {
    {"", ""},
    {"all_reduce_id: 3", "channel_id=3, "},
    {"channel_id: 4 all_reduce_id: 3", "channel_id=4, "},
    {"replica_groups { replica_ids: [0, 1] } replica_groups { }", "replica_groups={{0,1},{}}, "},
    {"collective_device_list { replica_groups { replica_ids: [1, 0] } }", "replica_groups={{1,0}}, "},
    {"collective_device_list { iota_replica_group_list { num_replica_groups: 2 num_devices_per_group: 3 "
     "iota_reshape_dims: 6 iota_transpose_perm: 0 } }",
     "replica_groups=[2,3]<=[6], "},
    {"iota_collective_device_list { num_replica_groups: 3 num_devices_per_group: 2 iota_reshape_dims: [2, 3] "
     "iota_transpose_perm: [1, 0] }",
     "replica_groups=[3,2]<=[2,3]T(1,0), "},
    {"mesh_axes_replica_group_list { mesh { axes { name: 'x' size: 2 } axes { name: 'y' size: 2 } } axes { "
     "mesh_axis_index: 1 } }",
     "replica_groups=mesh['x'=2,'y'=2] {'y'}, "},
    {"mesh_axes_replica_group_list { mesh { axes { name: 'x' size: 4 } iota_transform { reshape_dims: [2, 2] "
     "transpose_perm: [1, 0] } } axes { sub_axis_info { pre_size: 2 size: 2 } } }",
     "replica_groups=mesh['x'=4], device_ids=([2,2]T(1,0)) {'x':(2)2}, "},
    {"mesh_axes_replica_group_list { mesh { axes { name: 'x' size: 2 } device_ids: [1, 0] } axes { } }",
     "replica_groups=mesh['x'=2], device_ids=(1,0) {'x'}, "},
    {"backend_config_payload { value: '{\"a\":1}' }", "backend_config={\"a\":1}, "},
    {"backend_config_payload { id: 2 }", "backend_config=\"second\", "},
    {"backend_config_payload { id: 9 value: 'own' }", "backend_config=\"own\", "},
    {"sharding { type: OTHER tile_assignment_dimensions: [2, 1] tile_assignment_devices: [1, 0] }",
     "sharding={devices=[2,1]1,0}, "},
    {"sharding { type: OTHER tile_assignment_dimensions: [2, 2] iota_reshape_dims: 4 iota_transpose_perm: 0 "
     "last_tile_dims: [MANUAL, REPLICATED] }",
     "sharding={devices=[2,2]<=[4] last_tile_dims={manual, replicated}}, "},
    {"sharding { is_shard_group: true shard_group_id: 5 shard_group_type: LIKE }",
     "sharding={replicated shard_like 5}, "},
    {"sharding { type: MAXIMAL tile_assignment_devices: -9223372036854775808 }",
     "sharding={maximal device=-9223372036854775808}, "},
    {"sharding { is_shard_group: true shard_group_id: 9223372036854775807 }",
     "sharding={replicated shard_as 9223372036854775807}, "},
    {"frontend_attributes { map { key: 'a b' value: '\\001' } map { key: 'c' value: '{1, 2}' } }",
     "frontend_attributes={\"a b\"=\"\\x01\",c={1, 2}}, "},
};

static void test_other_forms(void **state) {
  arena *a = *state;
  for (size_t k = 0; k < sizeof other_forms / sizeof *other_forms; k++) {
    module *wanted, *found;
    const char *message = arena_printf(
        a,
        "payloads: ['first', 'second'] entry_computation_id: 2 name: 'm' computations { name: 'add' id: 1 "
        "root_id: 3 instructions { name: 'x' id: 1 opcode: 'parameter' shape { element_type: F32 } } "
        "instructions { name: 'y' id: 2 opcode: 'parameter' parameter_number: 1 shape { element_type: F32 } } "
        "instructions { name: 'r' id: 3 opcode: 'add' operand_ids: [1, 2] shape { element_type: F32 } } } "
        "computations { name: 'e' id: 2 root_id: 5 "
        "instructions { name: 'p' id: 4 opcode: 'parameter' shape { element_type: F32 } } "
        "instructions { name: 'a' id: 5 opcode: 'all-reduce' operand_ids: 4 called_computation_ids: 1 "
        "shape { element_type: F32 } %s } }",
        other_forms[k].fields);
    const char *text =
        arena_printf(a,
                     "HloModule m\nadd { x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT r = f32[] add(x, y) }\n"
                     "ENTRY e { p = f32[] parameter(0)\n ROOT a = f32[] all-reduce(p), %sto_apply=add }\n",
                     other_forms[k].text);
    ok(proto_read_text(a, "test", str_from(message), &found, NULL, NULL, NULL));
    ok(hlo_parse(a, "test", str_from(text), &wanted));
    ok(module_compare(wanted, found));
  }
}

// Names are made such that HLO text can spell them.
static void test_names(void **state) {
  arena *a = *state;
  module *found, *again;
  const char *message =
      "entry_computation_id: 1 name: 'm' computations { name: 'e' id: 1 root_id: 2 instructions { name: 'a....b c' id: "
      "2 opcode: 'parameter' "
      "shape { element_type: F32 } } }";
  ok(proto_read_text(a, "test", str_from(message), &found, NULL, NULL, NULL));
  text printed = {0};
  hlo_print(&printed, found, HLO_PRINT_FULL);
  assert_non_null(strstr(text_cstr(&printed), "%a....b_c = f32[]"));
  ok(hlo_parse(a, "printed", text_view(&printed), &again));
  ok(module_compare(found, again));
  text_free(&printed);
}

// --- what is refused

typedef struct refusal {
  const char *instructions;  // of the only computation, whose root is instruction 1
  const char *message;
} refusal;

#define F32 "shape { element_type: F32 } "
#define PARAMETER(id, more) "instructions { name: 'p' opcode: 'parameter' id: " #id " " F32 more "} "

static const refusal refusals[] = {
    {PARAMETER(1, "") PARAMETER(1, "parameter_number: 1"), "the same id"},
    {PARAMETER(2, ""), "root 1 is not an instruction"},
    {"instructions { name: 'n' opcode: 'nogate' id: 1 " F32 "}", "in instruction 'n' (id 1)"},
    {"instructions { name: 'n' opcode: 'nogate' id: 1 " F32 "}", "'nogate'"},
    {"instructions { name: 'n' opcode: 'negate' id: 1 operand_ids: 7 " F32 "}", "operand 7 is not an instruction"},
    {"instructions { name: 'n' opcode: 'negate' id: 1 operand_ids: 1 " F32 "}", "depends on itself"},
    {"instructions { name: 'n' opcode: 'negate' id: 1 operand_ids: 2 " F32 "} "
     "instructions { name: 'm' opcode: 'negate' id: 2 operand_ids: 1 " F32 "}",
     "depends on itself"},
    {"instructions { name: 'n' opcode: 'negate' id: 1 " F32 "}", "operand"},
    {PARAMETER(2, "") "instructions { name: 'n' opcode: 'add' id: 1 operand_ids: 2 " F32 "}", "operand"},
    {PARAMETER(2, "") "instructions { name: 'n' opcode: 'add' id: 1 operand_ids: [2, 2, 2] " F32 "}", "operand"},
    {PARAMETER(1, "operand_ids: 1"), "a parameter has 1 operands"},
    {PARAMETER(1, "sharding { type: OTHER iota_reshape_dims: [2, 2] iota_transpose_perm: [1, -1] }"),
     "found dimension -1 in the transposition of a sharding, wanted each once"},
    {PARAMETER(1, "sharding { type: OTHER iota_reshape_dims: [2, 2] iota_transpose_perm: [1, 1] }"),
     "found dimension 1 in the transposition"},
    {PARAMETER(1,
               "sharding { type: TUPLE tuple_shardings { type: OTHER iota_reshape_dims: [2, 2] "
               "iota_transpose_perm: 0 } }"),
     "found a transposition of 1 dimensions in a sharding, wanted 2"},
    {PARAMETER(2, "") "instructions { name: 'd' opcode: 'domain' id: 1 operand_ids: 2 " F32
                      "domain_entry_sharding { type: OTHER iota_reshape_dims: 2 iota_transpose_perm: 1 } }",
     "found dimension 1 in the transposition"},
    {PARAMETER(1, "parameter_number: -1"), "parameter number -1"},
    {PARAMETER(1, "control_predecessor_ids: 3"), "control predecessor 3"},
    {PARAMETER(1, "called_computation_ids: 1"), "calls no computations"},
    {PARAMETER(2, "") "instructions { name: 'c' opcode: 'call' id: 1 called_computation_ids: 9 operand_ids: 2 " F32 "}",
     "called computation 9"},
    {PARAMETER(2, "") "instructions { name: 'c' opcode: 'call' id: 1 called_computation_ids: 1 operand_ids: 2 " F32 "}",
     "calls itself"},
    {"instructions { name: 'c' opcode: 'constant' id: 1 " F32 "}", "has no literal"},
    {"instructions { name: 'c' opcode: 'constant' id: 1 " F32 "literal { " F32 "f32s: [1, 2] } }", "wanted 1"},
    {"instructions { name: 'c' opcode: 'constant' id: 1 " F32 "literal { " F32 "s32s: 1 } }", "has 0 numbers"},
    {"instructions { name: 'c' opcode: 'constant' id: 1 " F32 "literal { shape { element_type: S32 } s32s: 1 } }",
     "the literal is s32[]"},
    {"instructions { name: 'c' opcode: 'constant' id: 1 " F32
     "literal { shape { element_type: F32 dimensions: [1000000000, 1000000000] } } }",
     "has 0 numbers"},
    {"instructions { name: 'c' opcode: 'constant' id: 1 " F32
     "literal { shape { element_type: TUPLE tuple_shapes { element_type: U8 dimensions: 99999999999 } } } }",
     "has 0 elements"},
    {"instructions { name: 'p' opcode: 'parameter' id: 1 }", "found no shape"},
    {"instructions { name: 'p' opcode: 'parameter' id: 1 shape { } }", "element type 0"},
    {"instructions { name: 'p' opcode: 'parameter' id: 1 shape { element_type: 77 } }", "element type 77"},
    {"instructions { name: 'p' opcode: 'parameter' id: 1 shape { element_type: F6E2M3FN } }", "F6E2M3FN"},
    {"instructions { name: 'p' opcode: 'parameter' id: 1 shape { element_type: F32 dimensions: -3 } }", "-3"},
    {"instructions { name: 'p' opcode: 'parameter' id: 1 shape { element_type: F32 dimensions: [3, 4] "
     "layout { minor_to_major: 0 } } }",
     "orders 1 dimensions"},
    {"instructions { name: 'p' opcode: 'parameter' id: 1 shape { element_type: F32 dimensions: [3, 4] "
     "layout { minor_to_major: [0, 5] } } }",
     "permutation"},
    {"instructions { name: 'p' opcode: 'parameter' id: 1 shape { element_type: F32 dimensions: [3, 4] "
     "layout { minor_to_major: [0, 1] tiles { dimensions: -2 } } } }",
     "negative size"},
    {"instructions { name: 'p' opcode: 'parameter' id: 1 shape { element_type: F32 dimensions: 3 "
     "is_dynamic_dimension: [true, false] } }",
     "2 dimensions are said"},
    {"instructions { name: 'p' opcode: 'parameter' id: 1 shape { element_type: F32 tuple_shapes { } } }",
     "no elements"},
    {PARAMETER(2, "") "instructions { name: 'c' opcode: 'compare' id: 1 operand_ids: [2, 2] "
                      "comparison_direction: 'UP' shape { element_type: PRED } }",
     "'UP'"},
    {"instructions { name: 'i' opcode: 'iota' id: 1 dimensions: [0, 1] shape { element_type: S32 dimensions: 3 } }",
     "has 2 values"},
    {PARAMETER(2,
               "") "instructions { name: 'r' opcode: 'all-reduce' id: 1 operand_ids: 2 called_computation_ids: 1 " F32
                   "iota_collective_device_list { num_replica_groups: 2 num_devices_per_group: 2 "
                   "iota_reshape_dims: 5 iota_transpose_perm: 0 } }",
     "do not make up 5 devices"},
    {PARAMETER(2,
               "") "instructions { name: 'r' opcode: 'all-reduce' id: 1 operand_ids: 2 called_computation_ids: 1 " F32
                   "iota_collective_device_list { num_replica_groups: 2 num_devices_per_group: 2 "
                   "iota_reshape_dims: [4000000, 4000000] iota_transpose_perm: [0, 1] } }",
     "4000000 devices"},
    {PARAMETER(2,
               "") "instructions { name: 'r' opcode: 'all-reduce' id: 1 operand_ids: 2 called_computation_ids: 1 " F32
                   "mesh_axes_replica_group_list { mesh { axes { name: 'x' size: 2 } } axes { mesh_axis_index: 1 } } }",
     "axis 1 of 1"},
    {PARAMETER(2,
               "") "instructions { name: 'r' opcode: 'all-reduce' id: 1 operand_ids: 2 called_computation_ids: 1 " F32
                   "mesh_axes_replica_group_list { mesh { axes { name: 'x' size: 2 } device_ids: 5 } axes { } } }",
     "no axes of a mesh"},
    {PARAMETER(2,
               "") "instructions { name: 'r' opcode: 'all-reduce' id: 1 operand_ids: 2 called_computation_ids: 1 " F32
                   "mesh_axes_replica_group_list { mesh { axes { name: 'x' size: 4000000 } } } }",
     "4000000 devices"},
    {PARAMETER(2,
               "") "instructions { name: 'r' opcode: 'all-reduce' id: 1 operand_ids: 2 called_computation_ids: 1 " F32
                   "mesh_axes_replica_group_list {  } }",
     "have none"},
    {PARAMETER(2, "") "instructions { name: 'c' opcode: 'convolution' id: 1 operand_ids: [2, 2] " F32
                      "convolution_dimension_numbers { input_feature_dimension: 1 output_feature_dimension: 1 } }",
     "found dimension 0 of the kernel"},
    {PARAMETER(2, "") "instructions { name: 'c' opcode: 'convolution' id: 1 operand_ids: [2, 2] " F32 "}",
     "found no convolution_dimension_numbers"},
    {PARAMETER(2, "") "instructions { name: 'c' opcode: 'convolution' id: 1 operand_ids: [2, 2] " F32
                      "convolution_dimension_numbers { input_feature_dimension: 1 kernel_output_feature_dimension: 1 "
                      "output_feature_dimension: 64 } }",
     "found dimension 64 of the output"},
    {PARAMETER(2, "") "instructions { name: 'c' opcode: 'convolution' id: 1 operand_ids: [2, 2] " F32
                      "convolution_dimension_numbers { input_feature_dimension: -1 } }",
     "found dimension -1 of the input"},
};

static heddle_status read_text(arena *a, const char *source) {
  module *m;
  return proto_read_text(a, "test.pbtxt", str_from(source), &m, NULL, NULL, NULL);
}

static void refused(arena *a, const char *source, const char *message) {
  heddle_status status = read_text(a, source);
  if (status_is_ok(status)) fail_msg("accepted: %s", source);
  if (!strstr(heddle_status_message(status), message))
    fail_msg("%s\nfound %s\nwanted %s", source, heddle_status_message(status), message);
  heddle_status_free(status);
}

static void test_refusals(void **state) {
  arena *a = *state;
  for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++)
    refused(a,
            arena_printf(a, "entry_computation_id: 1 computations { name: 'e' id: 1 root_id: 1 %s}",
                         refusals[k].instructions),
            refusals[k].message);
}

#define ENTRY "computations { name: 'e' id: 1 root_id: 1 " PARAMETER(1, "") "} "

static void test_module_refusals(void **state) {
  arena *a = *state;
  ok(read_text(a, "hlo_module { name: 'm' entry_computation_id: 1 " ENTRY "}"));
  refused(a, ENTRY, "the entry computation, 0");
  refused(a, "entry_computation_id: 1 " ENTRY ENTRY, "has the id 1 of another one");
  refused(a, "entry_computation_id: 1 computations { name: 'e' id: 1 }", "found no instructions");
  refused(a, "entry_computation_id: 1 host_program_shape { result { element_type: F32 } } " ENTRY, "0 parameters");
  refused(a, "entry_computation_id: 1 host_program_shape { parameters { element_type: F32 } } " ENTRY, "no shape");
  refused(a,
          "entry_computation_id: 1 host_program_shape { parameters { element_type: F32 } "
          "result { element_type: S32 } } " ENTRY,
          "the program shape has s32[]");
  refused(a, "entry_computation_id: 1 schedule { sequences { key: 1 } } " ENTRY, "the schedule has 0 instructions");
  refused(a, "entry_computation_id: 1 schedule { sequences { key: 1 value { instruction_ids: 2 } } } " ENTRY,
          "scheduled 2");
  refused(a, "hlo { }", "without a module");
  refused(a, "name: 'x'", "found no HloModuleProto");
}

// Bytes of a module whose parameter is a tuple in a tuple in a tuple …
static void nest(text *out, int depth) {
  static const char open[] = "tuple_shapes { element_type: TUPLE ";
  text_puts(out,
            "entry_computation_id: 1 computations { name: 'e' id: 1 root_id: 1 instructions { name: 'p' id: 1 "
            "opcode: 'parameter' shape { element_type: TUPLE ");
  for (int k = 0; k < depth; k++) text_puts(out, open);
  for (int k = 0; k < depth + 3; k++) text_putc(out, '}');
}

static void test_nesting(void **state) {
  arena *a = *state;
  module *m;
  text t = {0}, bytes = {0};
  nest(&t, 100);
  ok(proto_read_text(a, "test", text_view(&t), &m, NULL, NULL, NULL));
  ok(proto_write(&bytes, m));
  ok(proto_read(a, "test", text_view(&bytes), &m, NULL, NULL, NULL));
  text_free(&t);
  text_free(&bytes);
  t = (text){0};
  nest(&t, 100000);
  refused(a, text_cstr(&t), "nest more than");
  text_free(&t);
}

// A tuple shape in a tuple shape and so on, written from the innermost out with lengths of four bytes.
static void test_deep_bytes(void **state) {
  enum { DEPTH = 20000, BYTES = DEPTH * 5 };
  static const char path[] = {0x1a, 0x12, 0x1a};  // computations, instructions, shape; below them tuple_shapes
  char *bytes = arena_alloc(*state, BYTES);
  size_t at = BYTES;
  for (int level = DEPTH - 1; level >= 0; level--) {
    size_t size = BYTES - at;
    at -= 4;
    for (int i = 0; i < 4; i++) bytes[at + (size_t)i] = (char)((size >> (7 * i) & 0x7f) | (i < 3 ? 0x80 : 0));
    bytes[--at] = level < 3 ? path[level] : 0x22;
  }
  module *m;
  heddle_status status = proto_read(*state, "deep", (str){bytes, BYTES}, &m, NULL, NULL, NULL);
  assert_false(status_is_ok(status));
  assert_non_null(strstr(heddle_status_message(status), "nest more than"));
  heddle_status_free(status);
}

// --- damaged bytes

static bool reads(str bytes) {
  arena *a = arena_create();
  module *m;
  int count;
  literal **arguments, *result;
  heddle_status status = proto_read(a, "damaged", bytes, &m, &count, &arguments, &result);
  bool is_ok = status_is_ok(status);
  heddle_status_free(status);
  arena_destroy(a);
  return is_ok;
}

// The snapshot's program comes first: no beginning of the file is a whole one.
static void test_truncated(void **state) {
  str whole = contents(*state, INPUTS "snapshot.pb");
  assert_true(reads(whole));
  size_t program = 3 + 691;  // the field that has it
  assert_true(program < whole.size);
  for (size_t size = 0; size < program; size++) assert_false(reads((str){whole.data, size}));
  for (size_t size = 8; size < whole.size; size++) assert_true(proto_is((str){whole.data, size}));
}

// Every byte takes other values in turn. Most of it is refused; none of it may do harm.
static void test_corrupted(void **state) {
  static const uint8_t masks[] = {0x01, 0x08, 0x80, 0xff};
  arena *a = *state;
  str whole = contents(a, INPUTS "snapshot.pb");
  char *bytes = arena_strdup(a, whole.data, whole.size);
  int refused_count = 0;
  for (size_t at = 0; at < whole.size; at++)
    for (size_t k = 0; k < sizeof masks; k++) {
      bytes[at] = (char)(whole.data[at] ^ masks[k]);
      refused_count += !reads((str){bytes, whole.size});
      bytes[at] = whole.data[at];
    }
  assert_true(refused_count > (int)whole.size);
}

// --- which message it is

static void test_kinds(void **state) {
  arena *a = *state;
  assert_true(proto_is(contents(a, INPUTS "attributes.pb")));
  assert_false(proto_is_text(contents(a, INPUTS "attributes.pb")));
  assert_false(proto_is(STR("HloModule m\n\nENTRY e { ROOT p = f32[] parameter(0) }\n")));
  assert_false(proto_is(STR("\n\nHloModule m\n")));
  assert_false(proto_is(STR("ML\xefR\x01\x02")));
  assert_false(proto_is(STR("")));
  assert_false(proto_is_text(STR("")));
  assert_false(proto_is_text(STR("HloModule m\n\nENTRY e { ROOT p = f32[] parameter(0) }\n")));
  assert_false(proto_is_text(STR("name {\n  ROOT p = f32[] parameter(0)\n}\n")));
  assert_false(proto_is_text(STR("module @m { func.func @main() { return } }")));
  assert_true(proto_is_text(STR("# comment\nhlo_module {\n  name: \"x\" oops")));
  assert_true(proto_is_text(STR("name: 'm' computations { }")));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_attributes), cmocka_unit_test(test_snapshot),        cmocka_unit_test(test_snapshot_text),
      cmocka_unit_test(test_devices),    cmocka_unit_test(test_layouts),         cmocka_unit_test(test_other_forms),
      cmocka_unit_test(test_names),      cmocka_unit_test(test_refusals),        cmocka_unit_test(test_nesting),
      cmocka_unit_test(test_deep_bytes), cmocka_unit_test(test_module_refusals), cmocka_unit_test(test_truncated),
      cmocka_unit_test(test_corrupted),  cmocka_unit_test(test_kinds),
  };
  return cmocka_run_group_tests(tests, arena_testing_set_up, arena_testing_tear_down);
}
