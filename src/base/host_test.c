// Memory that is about to be written is asked for in huge pages.
#include "base/host.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/testing.h"

#define HUGE_PAGE ((size_t)2 << 20)

// Whether the kernel was asked for huge pages at an address, by what it says of the mapping around.
static bool wants_huge_pages(const void *address) {
  FILE *f = fopen("/proc/self/smaps", "r");
  char line[512];
  bool is_here = false, wants = false;
  while (f && fgets(line, sizeof line, f)) {
    unsigned long begin, end;
    if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) is_here = begin <= (uintptr_t)address && (uintptr_t)address < end;
    if (is_here && strncmp(line, "VmFlags:", 8) == 0) wants = strstr(line, " hg") != NULL;
  }
  if (f) fclose(f);
  return wants;
}

static void need_huge_pages(void) {
  if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) == 0) return;
  print_message("skipped: this kernel has no transparent huge pages\n");
  skip();
}

static void test_what_holds_whole_huge_pages_is_asked_for_in_them(void **state) {
  (void)state;
  need_huge_pages();
  const size_t size = 6 * HUGE_PAGE;
  char *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(mapped != MAP_FAILED);
  char *aligned = mapped + (HUGE_PAGE - (uintptr_t)mapped % HUGE_PAGE) % HUGE_PAGE;
  host_expect(aligned + 64, HUGE_PAGE);  // holds no whole one
  assert_false(wants_huge_pages(aligned) || wants_huge_pages(aligned + HUGE_PAGE));
  host_expect(aligned + 64, 4 * HUGE_PAGE);
  assert_false(wants_huge_pages(aligned));  // what lies before the memory stays as it is
  assert_true(wants_huge_pages(aligned + HUGE_PAGE));
  assert_true(wants_huge_pages(aligned + 4 * HUGE_PAGE - 1));
  assert_false(wants_huge_pages(aligned + 4 * HUGE_PAGE));
  munmap(mapped, size);
}

static void test_large_blocks_lie_on_huge_pages(void **state) {
  (void)state;
  need_huge_pages();
  char *block = host_take(64 * HUGE_PAGE, 64);
  assert_non_null(block);
  assert_true(wants_huge_pages(block + 2 * HUGE_PAGE));
  host_give(block, 64 * HUGE_PAGE, 64);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_holds_whole_huge_pages_is_asked_for_in_them),
      cmocka_unit_test(test_large_blocks_lie_on_huge_pages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
