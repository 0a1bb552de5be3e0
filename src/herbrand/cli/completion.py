"""`herbrand completion`: completion scripts for shells."""

from __future__ import annotations

import click

from herbrand.cli.output import result

__all__ = ["command"]


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
    from click.shell_completion import get_completion_class

    completer = get_completion_class(shell)
    assert completer is not None  # click supports all three
    script = completer(ctx.find_root().command, {}, "herbrand", "_HERBRAND_COMPLETE")
    result(script.source_template % script.source_vars())
