//! The `neap` command.

fn main() -> std::process::ExitCode {
    neap_driver::main_neap(std::env::args_os())
}
