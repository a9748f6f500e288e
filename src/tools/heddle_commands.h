// The subcommands of `heddle`. Each takes the words after its name and gives the process's exit status.
#ifndef HEDDLE_TOOLS_HEDDLE_COMMANDS_H_
#define HEDDLE_TOOLS_HEDDLE_COMMANDS_H_

int heddle_run(int argc, char **argv);
int heddle_compile(int argc, char **argv);
int heddle_convert(int argc, char **argv);
int heddle_info(int argc, char **argv);
int heddle_ops(int argc, char **argv);

#endif
