// heddle: the driver. Dispatches to one file per subcommand.
#include <stdio.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/flags.h"

typedef int (*command_main)(int argc, char **argv);

static const struct {
  const char *name;
  command_main run;
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
  fprintf(out, "\nheddle COMMAND --help lists a command's flags, and so does heddle help COMMAND.\n");
}

static bool is_help(const char *word) {
  static const char *const words[] = {"help", "--help", "-help", "-h"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (strcmp(word, words[k]) == 0) return true;
  return false;
}

static command_main find_command(const char *name) {
  for (int i = 0; i < COMMAND_COUNT; i++)
    if (strcmp(name, commands[i].name) == 0) return commands[i].run;
  return NULL;
}

int main(int argc, char **argv) {
  static char help[] = "--help";
  if (argc == 3 && strcmp(argv[1], "help") == 0 && find_command(argv[2]))
    return find_command(argv[2])(1, (char *[]){help, NULL});
  if (argc >= 2 && is_help(argv[1])) {
    print_usage(stdout);
    return command_line_output_status(0);
  }
  if (argc >= 2 && strcmp(argv[1], "--version") == 0) {
    flags_print_version(STR("heddle"));
    return command_line_output_status(0);
  }
  if (argc >= 2 && find_command(argv[1])) return find_command(argv[1])(argc - 2, argv + 2);
  if (argc >= 2) fprintf(stderr, "heddle: error: found command %s, wanted one of:\n", argv[1]);
  print_usage(stderr);
  return 2;
}
