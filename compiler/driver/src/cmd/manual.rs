//! `neap completions` and `neap man`: what the command line says of itself, for shells and for `man`.

use std::io::Write;

use clap::CommandFactory;

use crate::cli::{Cli, Completions, Man};
use crate::failure::{At, Failure};
use crate::files;

/// Prints a shell's completions.
pub fn completions(args: &Completions) -> Result<(), Failure> {
    let mut text = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "neap", &mut text);
    super::print(&String::from_utf8_lossy(&text))
}

/// Writes a manual page for `neap` and for each command.
pub fn man(args: &Man) -> Result<(), Failure> {
    std::fs::create_dir_all(&args.output_dir).at(args.output_dir.display())?;
    let mut cli = Cli::command();
    // Gives the commands their full names.
    cli.build();
    let commands = cli.get_subcommands().filter(|c| c.get_name() != "help");
    let pages = std::iter::once(&cli).chain(commands).map(|c| {
        let name = if c.get_name() == "neap" { "neap".to_string() } else { format!("neap-{}", c.get_name()) };
        (name.clone(), clap_mangen::Man::new(c.clone()).title(name.to_uppercase()))
    });
    for (name, page) in pages {
        let mut text = vec![];
        page.render(&mut text).at(&name)?;
        files::write(&args.output_dir.join(format!("{name}.1")), |f| f.write_all(&text))?;
    }
    Ok(())
}
