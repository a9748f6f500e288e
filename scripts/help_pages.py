#!/usr/bin/env python3
"""Manual pages and shell completions, made of what the tools' --help says, so that they cannot say anything else.

    help_pages.py --version=0.11.0 --out=FOLDER TOOL...

Writes FOLDER/man1/TOOL.1 for each tool, and for the tool `heddle` FOLDER/heddle.bash and FOLDER/_heddle (zsh).
"""
import argparse
import pathlib
import re
import subprocess
import sys

FLAG = re.compile(r"^  (--[^\s=]+)(=\S+)?\s+(.*)$")
COMMAND = re.compile(r"^  (\w+)\s+(.+)$")


class Help:
    """What one --help text says."""

    def __init__(self, *words):
        self.words = words
        done = subprocess.run([*words, "--help"], capture_output=True, text=True, check=True)
        self.lines = done.stdout.rstrip().splitlines()
        if not self.lines or not self.lines[0].startswith((pathlib.Path(words[0]).name, *words[1:2])):
            sys.exit(f"help_pages.py: {' '.join(map(str, words))} --help does not begin with how it is called")
        self.usage = self.lines[0]
        self.flags = [m.groups() for m in map(FLAG.match, self.lines[1:]) if m]
        has_commands = self.usage.endswith("COMMAND ...")
        self.commands = [m.groups() for m in map(COMMAND.match, self.lines[1:]) if m] if has_commands else []

    @property
    def summary(self):
        """The paragraph below the usage line."""
        return re.sub(r"\s+", " ", "\n".join(self.lines[2:]).split("\n\n")[0])


BREAK = "\\:"  # troff's place where a line may end without a hyphen


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in text)
    return "\\&" + text if text.startswith((".", "'")) else text


def flag_entries(text):
    """The flags and the paragraphs between them, in the order of the text."""
    out = []
    for line in text.lines[3:]:
        flag = FLAG.match(line)
        if flag:
            name, value, what = flag.groups()
            # A line may end behind a choice: some have more of them than a line holds.
            shown = f"\\fI{roff(value[1:]).replace('|', '|' + BREAK)}\\fR" if value else ""
            out += [".TP", f"\\fB{roff(name)}\\fR{'=' if value else ''}{shown}", roff(what)]
        elif line.strip() and not line.startswith("flags:"):
            out += [".PP", roff(line.strip())]
    return out


def page(tool, version):
    name = pathlib.Path(tool).name
    main = Help(tool)
    short = "a compiler for tensor programs" if main.commands else main.summary.rstrip(".")
    out = [f'.\\" made by scripts/help_pages.py from {name} --help', f'.TH {name.upper()} 1 "" "Heddle {version}"',
           ".ad l", ".SH NAME", f"{roff(name)} \\- {roff(short[0].lower() + short[1:])}",
           ".SH SYNOPSIS", f".B {roff(main.usage)}"]
    if main.commands:
        out += [".SH COMMANDS"]
        for command, what in main.commands:
            text = Help(tool, command)
            out += [f".SS {roff(text.usage)}", roff(what[0].upper() + what[1:]) + ".", ".PP", roff(text.summary)]
            out += flag_entries(text)
    else:
        out += [".SH DESCRIPTION", roff(main.summary), ".SH OPTIONS", *flag_entries(main)]
    out += [".SH EXIT STATUS", "0 on success, 1 for a program that is wrong or cannot be compiled or run, 2 for a wrong "
            "command line, 3 where results differ from what was expected, 130 where the user has interrupted it."]
    return "\n".join(out) + "\n"


def choices(value):
    """The words of a flag's value where it is one of several: =cpu|gpu."""
    words = value[1:].split("|") if value else []
    return words if len(words) > 1 and all(re.fullmatch(r"[a-z0-9_-]+", w) for w in words) else []


def command_flags(tool):
    """[(command, [words that can be completed])] with a word `--flag=` where a value follows."""
    out = []
    for command, _ in Help(tool).commands:
        words = []
        for name, value, _ in Help(tool, command).flags:
            words += [f"{name}={w}" for w in choices(value)] or [name + ("=" if value else "")]
        out.append((command, words + ["--help"]))
    return out


def bash(table):
    cases = "".join(f"    {command}) words=\"{' '.join(words)}\" ;;\n" for command, words in table)
    return f"""# bash completion for heddle, made by scripts/help_pages.py
_heddle() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words
  # Bash takes --flag=@value apart at the signs.
  if [[ $current == "=" || $current == "@" ]]; then current=; fi
  if [[ $before == "=" ]]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "{' '.join(c for c, _ in table)} --help --version" -- "$current"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{cases}    *) words= ;;
  esac
  if [[ $before == --* && $current != --* ]]; then
    local values=
    for word in $words; do [[ $word == "$before="?* ]] && values+=" ${{word#*=}}"; done
    if [[ -n $values ]]; then COMPREPLY=($(compgen -W "$values" -- "$current")); return; fi
  fi
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    [[ ${{#COMPREPLY[@]}} -eq 1 && ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace
  else
    compopt -o filenames  # quotes blanks, and would quote the sign of flags, too
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}}
complete -F _heddle heddle
"""


def zsh(table):
    cases = "".join(f"    {command}) flags=({' '.join(words)}) ;;\n" for command, words in table)
    return f"""#compdef heddle
# zsh completion for heddle, made by scripts/help_pages.py
_heddle() {{
  local -a flags
  if (( CURRENT == 2 )); then
    compadd -- {' '.join(c for c, _ in table)} --help --version
    return
  fi
  case $words[2] in
{cases}  esac
  if [[ $PREFIX == -* ]]; then
    compadd -S ' ' -- ${{flags:#*=}}
    compadd -S '' -- ${{(M)flags:#*=}}
  else
    _files
  fi
}}
_heddle "$@"
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("tools", nargs="+")
    o = parser.parse_args()
    (o.out / "man1").mkdir(parents=True, exist_ok=True)
    for tool in o.tools:
        name = pathlib.Path(tool).name
        (o.out / "man1" / f"{name}.1").write_text(page(tool, o.version), encoding="utf-8")
        if name == "heddle":
            table = command_flags(tool)
            (o.out / "heddle.bash").write_text(bash(table), encoding="utf-8")
            (o.out / "_heddle").write_text(zsh(table), encoding="utf-8")


if __name__ == "__main__":
    main()
