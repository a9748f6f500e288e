// The subcommands of `heddle`. Each takes the words after its name and gives the process's exit status.
#ifndef HEDDLE_TOOLS_COMMANDS_H_
#define HEDDLE_TOOLS_COMMANDS_H_

int command_run(int argc, char **argv);
int command_profile(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_compile(int argc, char **argv);
int command_convert(int argc, char **argv);
int command_info(int argc, char **argv);
int command_ops(int argc, char **argv);
int command_doctor(int argc, char **argv);

#endif
