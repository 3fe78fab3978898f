"""Commands that this package adds to `proverl` (entry point group `proverl.commands`); one typer app for each."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

_PICTURES = (".svg", ".png", ".pdf")
graph_app = typer.Typer(help="Show which tool of a server leads to which.")


@graph_app.command()
def graph(
    server: Annotated[str, typer.Argument(help="Name of a server")],
    output: Annotated[Path | None, typer.Option(help="Draw it into this .svg, .png or .pdf file instead")] = None,
    explicit: Annotated[bool, typer.Option("--explicit", help="Only what the types say; proves nothing")] = False,
) -> None:
    """Show which tool of a server leads to which: by an entity in its result, or by the state that it makes."""
    from proverl.synth.graphs.graph import server_graph, visible_tools  # imported late: the help needs none of it
    from proverl.synth.graphs.picture import draw, table
    from proverl.synth.graphs.state_edges import full_graph
    from proverl.synth.graphs.store import default_folder

    if output is not None and (output.suffix not in _PICTURES or not output.absolute().parent.is_dir()):
        wanted = f"a file that ends in {', '.join(_PICTURES)}, in a folder that is there"
        typer.echo(f"--output is {output}; give {wanted}", err=True)
        raise typer.Exit(2)
    try:
        found = server_graph(server) if explicit else full_graph(server, default_folder())
        tools = visible_tools(server)
        if output is not None:
            draw(found, tools, server, output)
    except (ValueError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    if output is None:
        Console(soft_wrap=False).print(table(found, tools, server))
    else:
        typer.echo(str(output))
