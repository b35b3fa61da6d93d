//! The one test binary that links MLIR. Every test is a row of data: see `neap_testsuite`.

fn main() {
    let args = libtest_mimic::Arguments::from_args();
    libtest_mimic::run(&args, neap_testsuite::trials()).exit();
}
