//! The floating-point environment kernels run in.
//!
//! A caller's thread may flush denormals or round otherwise (some numerical libraries set this process-wide), and a
//! thread inherits that from its creator; results would then depend on who calls. So kernels always run in the default
//! environment: round to nearest, denormals kept, exceptions masked.

/// Keeps the default environment on this thread until it is dropped.
pub(crate) struct FpEnv {
    #[cfg(target_arch = "x86_64")]
    saved: u32,
}

#[cfg(target_arch = "x86_64")]
impl FpEnv {
    /// Rounding to nearest, no flushing, all exceptions masked.
    const DEFAULT: u32 = 0x1f80;

    pub(crate) fn enter() -> FpEnv {
        let mut saved = 0u32;
        // SAFETY: `stmxcsr` stores four bytes to the local that its operand points to.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut saved, options(nostack, preserves_flags)) };
        load(Self::DEFAULT);
        FpEnv { saved }
    }
}

#[cfg(target_arch = "x86_64")]
impl Drop for FpEnv {
    fn drop(&mut self) {
        load(self.saved);
    }
}

#[cfg(target_arch = "x86_64")]
fn load(value: u32) {
    // SAFETY: `ldmxcsr` reads four bytes from a local; the value is the default or one that the CPU gave us.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags, readonly)) };
}

#[cfg(not(target_arch = "x86_64"))]
impl FpEnv {
    pub(crate) fn enter() -> FpEnv {
        FpEnv {}
    }
}
