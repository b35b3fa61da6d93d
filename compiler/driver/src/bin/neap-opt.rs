//! The `neap-opt` command.

fn main() -> std::process::ExitCode {
    neap_driver::main_opt(std::env::args_os())
}
