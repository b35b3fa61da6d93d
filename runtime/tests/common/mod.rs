//! A small model made by hand, so that the runtime is tested without a compiler: `y = (a + b + w) / 2` over `n` floats.

#![allow(dead_code, reason = "each test binary uses a part of this")]

use neap_runtime::Artefact;
use neap_runtime::program::{BufferRef, DType, Launch, Place, Program, TensorInfo};

/// Offset of a kernel `buffers[2][i] = buffers[0][i] + buffers[1][i]` in [`CODE`].
pub const ADD: u64 = 0x00;
/// Offset of a kernel `buffers[1][i] = 0.5 * buffers[0][i]` in [`CODE`].
pub const HALVE: u64 = 0x40;

/// x86-64 code and a constant:
///
/// ```text
/// add:    mov rax, [rdi]; mov r9, [rdi+8]; mov r10, [rdi+16]
///     1:  cmp rdx, rcx; jge 2f
///         movss xmm0, [rax+rdx*4]; movss [r8], xmm0       ; through the thread's scratch
///         movss xmm1, [r9+rdx*4]; addss xmm1, [r8]; movss [r10+rdx*4], xmm1
///         inc rdx; jmp 1b
///     2:  ret                                             ; then int3 to the next multiple of 16
/// halve:  mov rax, [rdi]; mov r10, [rdi+8]; movss xmm1, [rip+half]
///     1:  cmp rdx, rcx; jge 2f
///         movss xmm0, [rax+rdx*4]; mulss xmm0, xmm1; movss [r10+rdx*4], xmm0
///         inc rdx; jmp 1b
///     2:  ret
/// half:   .float 0.5
/// ```
#[rustfmt::skip]
pub const CODE: &[u8] = &[
    0x48, 0x8b, 0x07, 0x4c, 0x8b, 0x4f, 0x08, 0x4c, 0x8b, 0x57, 0x10, 0x48, 0x39, 0xca, 0x7d, 0x20,
    0xf3, 0x0f, 0x10, 0x04, 0x90, 0xf3, 0x41, 0x0f, 0x11, 0x00, 0xf3, 0x41, 0x0f, 0x10, 0x0c, 0x91,
    0xf3, 0x41, 0x0f, 0x58, 0x08, 0xf3, 0x41, 0x0f, 0x11, 0x0c, 0x92, 0x48, 0xff, 0xc2, 0xeb, 0xdb,
    0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
    0x48, 0x8b, 0x07, 0x4c, 0x8b, 0x57, 0x08, 0xf3, 0x0f, 0x10, 0x0d, 0x21, 0x00, 0x00, 0x00, 0x48,
    0x39, 0xca, 0x7d, 0x14, 0xf3, 0x0f, 0x10, 0x04, 0x90, 0xf3, 0x0f, 0x59, 0xc1, 0xf3, 0x41, 0x0f,
    0x11, 0x04, 0x92, 0x48, 0xff, 0xc2, 0xeb, 0xe7, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
    0x00, 0x00, 0x00, 0x3f,
];

/// The program over `n` floats; `n` must be a multiple of 16, so that the second intermediate is aligned.
pub fn program(n: u64) -> Program {
    let tensor = |name: &str| TensorInfo { name: name.into(), dtype: DType::F32, dims: vec![2, n / 2] };
    let at = |place| BufferRef { place, bytes: 4 * n, written: false };
    let to = |place| BufferRef { place, bytes: 4 * n, written: true };
    let launch = |entry, kernel: &str, buffers: Vec<BufferRef>| Launch {
        entry,
        kernel: kernel.into(),
        nodes: kernel.into(),
        buffers,
        dims: vec![n as i64],
        extent: n,
        grain: 8,
        scratch: 4,
        flops: n,
        bytes: 0,
    };
    let (t, u) = (Place::Arena(0), Place::Arena(4 * n));
    Program {
        model: "halves".into(),
        backend: "hand".into(),
        arch: "x86_64".into(),
        cpu: "x86-64".into(),
        features: vec!["sse2".into()],
        inputs: vec![tensor("a"), tensor("b")],
        outputs: vec![tensor("y")],
        arena_bytes: 8 * n,
        held: vec![],
        launches: vec![
            launch(ADD, "add", vec![at(Place::Input(0, 0)), at(Place::Input(1, 0)), to(t)]),
            launch(ADD, "add", vec![at(t), at(Place::Weight(64)), to(u)]),
            launch(HALVE, "halve", vec![at(u), to(Place::Output(0, 0))]),
        ],
    }
}

/// Two weight blocks; the second, at offset 64, is `w`.
pub fn weights(n: u64) -> Vec<Vec<u8>> {
    vec![vec![7; 5], floats(n, 3).iter().flat_map(|x| x.to_le_bytes()).collect()]
}

/// The model in memory.
pub fn artefact(n: u64) -> Artefact {
    Artefact::from_parts(program(n), CODE, weights(n)).expect("the program holds together")
}

/// Small integers as floats, so that sums are exact.
pub fn floats(n: u64, seed: u64) -> Vec<f32> {
    (0..n).map(|i| ((i * 31 + seed * 17) % 97) as f32 - 40.0).collect()
}

/// What the model computes.
pub fn expected(a: &[f32], b: &[f32]) -> Vec<f32> {
    let w = floats(a.len() as u64, 3);
    a.iter().zip(b).zip(w).map(|((a, b), w)| (a + b + w) * 0.5).collect()
}

/// The bytes of floats.
pub fn bytes(x: &[f32]) -> Vec<u8> {
    x.iter().flat_map(|x| x.to_le_bytes()).collect()
}
