//! What a command ends with when it cannot do its work.

use std::fmt::{self, Display};

/// One clear line for the user, and the exit code.
#[derive(Debug)]
pub struct Failure {
    /// 1: the input or the world; 2: usage.
    pub code: u8,
    /// Lower case, no final dot: what, where, how to mend it. Several findings stand on lines of their own.
    pub message: String,
}

impl Failure {
    /// The input or the world is at fault.
    pub fn new(message: impl Display) -> Self {
        Failure { code: 1, message: message.to_string() }
    }

    /// The command line is at fault.
    pub fn usage(message: impl Display) -> Self {
        Failure { code: 2, message: message.to_string() }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Adds where it happened to an error of the world.
pub trait At<T> {
    /// `<what>: <error>`
    fn at(self, what: impl Display) -> Result<T, Failure>;
}

impl<T, E: Display> At<T> for Result<T, E> {
    fn at(self, what: impl Display) -> Result<T, Failure> {
        self.map_err(|e| Failure::new(format!("{what}: {e}")))
    }
}
