"""`herbrand completion`: completion scripts for shells."""

from __future__ import annotations

from typing import ClassVar, Final

import click
from click.shell_completion import BashComplete, get_completion_class

from herbrand.cli.output import result

__all__ = ["command"]

_BASH: Final = """\
%(complete_func)s() {
    local IFS=$'\\n' type value
    while IFS=',' read -r type value; do
        case $type in
            plain) COMPREPLY+=("$value") ;;
            file) compopt -o filenames; COMPREPLY+=($(compgen -f -- "$value")) ;;
            dir) compopt -o filenames; COMPREPLY+=($(compgen -d -- "$value")) ;;
        esac
    done < <(COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD %(complete_var)s=bash_complete "$1")
}
complete -o nosort -F %(complete_func)s herbrand
"""


class _Bash(BashComplete):
    """The script of click completes either files or words; FILE is both, a path or the name of a game."""

    source_template: ClassVar[str] = _BASH


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    r"""Print the completion script for a shell.

    \b
    bash: herbrand completion bash > ~/.local/share/bash-completion/completions/herbrand
    zsh:  herbrand completion zsh > a file `_herbrand` in a directory of $fpath
    fish: herbrand completion fish > ~/.config/fish/completions/herbrand.fish
    """
    completer = _Bash if shell == "bash" else get_completion_class(shell)
    assert completer is not None  # click supports all three
    script = completer(ctx.find_root().command, {}, "herbrand", "_HERBRAND_COMPLETE")
    result(script.source_template % script.source_vars())
