// heddle: the driver. Dispatches to one file per subcommand.
#include <stdio.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/flags.h"

static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *summary;
} commands[] = {
    {"run", command_run, "compile and run a module, compare its results"},
    {"profile", command_profile, "what each operation of a module's run takes, moves and computes"},
    {"bench", command_bench, "how long a run of a module takes"},
    {"compile", command_compile, "compile a module to a program in a file, a C function in an object, or kernels"},
    {"convert", command_convert, "rewrite a program as HLO text, StableHLO text or an HLO proto"},
    {"info", command_info, "what a program takes and gives, where it runs, what it is made of"},
    {"ops", command_ops, "every opcode and where it is implemented"},
    {"doctor", command_doctor, "what this machine offers: CPU, libraries, devices, limits"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_usage(FILE *out) {
  fprintf(out, "heddle COMMAND ...\n\n");
  for (int i = 0; i < COMMAND_COUNT; i++) fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
  fprintf(out, "\nheddle COMMAND --help lists a command's flags.\n");
}

int main(int argc, char **argv) {
  if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)) {
    print_usage(stdout);
    return command_line_output_status(0);
  }
  if (argc >= 2 && strcmp(argv[1], "--version") == 0) {
    flags_print_version(STR("heddle"));
    return command_line_output_status(0);
  }
  for (int i = 0; i < COMMAND_COUNT && argc >= 2; i++)
    if (strcmp(argv[1], commands[i].name) == 0) return commands[i].run(argc - 2, argv + 2);
  if (argc >= 2) fprintf(stderr, "heddle: error: found command %s, wanted one of:\n", argv[1]);
  print_usage(stderr);
  return 2;
}
