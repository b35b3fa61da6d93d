//! The C API, declared and documented in `include/neap.h`.
//!
//! Nothing unwinds into the caller: a panic, which would be a bug, is reported as an error. Pointers are checked for
//! null; that they point to what the header says is the caller's part.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use crate::artefact::Check;
use crate::model::Model;
use crate::program::TensorInfo;
use crate::session::{Options, Session};
use crate::view::{RawInput, RawOutput};

const CHECK_WEIGHTS: u32 = 1;
const POISON: u32 = 2;

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// `neap_model`: a model and its names as C strings.
#[derive(Debug)]
pub struct NeapModel {
    model: Arc<Model>,
    inputs: Vec<CString>,
    outputs: Vec<CString>,
}

/// `neap_session`.
pub struct NeapSession(Session);

/// `neap_tensor`: an input or output.
#[derive(Debug)]
#[repr(C)]
pub struct NeapTensor {
    name: *const c_char,
    dtype: u32,
    rank: u32,
    dims: *const u64,
    bytes: u64,
}

/// What went wrong last on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn neap_last_error() -> *const c_char {
    LAST_ERROR.with_borrow(|error| error.as_ptr())
}

/// Loads a model.
///
/// # Safety
/// `path` is null or a C string, `model` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn neap_model_load(path: *const c_char, flags: u32, model: *mut *mut NeapModel) -> c_int {
    guard(|| {
        known_flags(flags, CHECK_WEIGHTS)?;
        if path.is_null() || model.is_null() {
            return Err("neap_model_load: path or model is null".into());
        }
        // SAFETY: not null, hence a C string.
        let path = unsafe { CStr::from_ptr(path) };
        let check = if flags & CHECK_WEIGHTS != 0 { Check::Weights } else { Check::Code };
        let loaded = Model::open(os_path(path)?, check).map_err(|e| e.to_string())?;
        let loaded =
            NeapModel { inputs: names(loaded.inputs()), outputs: names(loaded.outputs()), model: Arc::new(loaded) };
        // SAFETY: not null, hence writable.
        unsafe { model.write(Box::into_raw(Box::new(loaded))) };
        Ok(())
    })
}

/// Frees a model.
///
/// # Safety
/// `model` is null or came from [`neap_model_load`] and was not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn neap_model_free(model: *mut NeapModel) {
    if !model.is_null() {
        // SAFETY: made by `Box::into_raw`, freed once.
        drop(unsafe { Box::from_raw(model) });
    }
}

/// How many inputs the model has.
///
/// # Safety
/// `model` is null or a live model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn neap_model_input_count(model: *const NeapModel) -> usize {
    // SAFETY: null or a live model.
    unsafe { model.as_ref() }.map_or(0, |m| m.inputs.len())
}

/// How many outputs the model has.
///
/// # Safety
/// `model` is null or a live model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn neap_model_output_count(model: *const NeapModel) -> usize {
    // SAFETY: null or a live model.
    unsafe { model.as_ref() }.map_or(0, |m| m.outputs.len())
}

/// Describes an input.
///
/// # Safety
/// `model` is null or a live model, `tensor` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn neap_model_input(model: *const NeapModel, index: usize, tensor: *mut NeapTensor) -> c_int {
    // SAFETY: null or a live model; `tensor` is passed on.
    unsafe { describe(model.as_ref().map(|m| (m.model.inputs(), &m.inputs[..])), index, tensor) }
}

/// Describes an output.
///
/// # Safety
/// `model` is null or a live model, `tensor` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn neap_model_output(model: *const NeapModel, index: usize, tensor: *mut NeapTensor) -> c_int {
    // SAFETY: null or a live model; `tensor` is passed on.
    unsafe { describe(model.as_ref().map(|m| (m.model.outputs(), &m.outputs[..])), index, tensor) }
}

/// Makes a session.
///
/// # Safety
/// `model` is null or a live model, `session` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn neap_session_new(
    model: *const NeapModel,
    threads: u32,
    flags: u32,
    session: *mut *mut NeapSession,
) -> c_int {
    guard(|| {
        known_flags(flags, POISON)?;
        // SAFETY: null or a live model.
        let (Some(model), false) = (unsafe { model.as_ref() }, session.is_null()) else {
            return Err("neap_session_new: model or session is null".into());
        };
        let options = Options { threads: threads as usize, poison: flags & POISON != 0, ..Options::default() };
        let made = Session::new(Arc::clone(&model.model), &options).map_err(|e| e.to_string())?;
        // SAFETY: not null, hence writable.
        unsafe { session.write(Box::into_raw(Box::new(NeapSession(made)))) };
        Ok(())
    })
}

/// Ends a session.
///
/// # Safety
/// `session` is null or came from [`neap_session_new`] and was not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn neap_session_free(session: *mut NeapSession) {
    if !session.is_null() {
        // SAFETY: made by `Box::into_raw`, freed once.
        drop(unsafe { Box::from_raw(session) });
    }
}

/// Bytes the session holds for intermediates and scratch.
///
/// # Safety
/// `session` is null or a live session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn neap_session_arena_bytes(session: *const NeapSession) -> u64 {
    // SAFETY: null or a live session.
    unsafe { session.as_ref() }.map_or(0, |s| s.0.arena_bytes())
}

/// Runs the model.
///
/// # Safety
/// `session` is null or a live session that no other thread uses; the arrays have as many entries as the counts say, and
/// their buffers are readable (inputs) or writable (outputs) for their lengths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn neap_session_run(
    session: *mut NeapSession,
    inputs: *const RawInput,
    input_count: usize,
    outputs: *const RawOutput,
    output_count: usize,
) -> c_int {
    guard(|| {
        // SAFETY: null or a live session of this thread.
        let session = unsafe { session.as_mut() }.ok_or("neap_session_run: session is null")?;
        // SAFETY: the caller gives as many entries as the counts say.
        let (inputs, outputs) = unsafe { (slice(inputs, input_count), slice(outputs, output_count)) };
        // SAFETY: passed on from the caller.
        unsafe { session.0.run_raw(inputs, outputs) }.map_err(|e| e.to_string())
    })
}

/// Shows an output of the last run where it lies in the session's arena.
///
/// # Safety
/// `session` is null or a live session, `output` null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn neap_session_output(
    session: *const NeapSession,
    index: usize,
    output: *mut RawInput,
) -> c_int {
    guard(|| {
        // SAFETY: null or a live session.
        let (Some(session), false) = (unsafe { session.as_ref() }, output.is_null()) else {
            return Err("neap_session_output: session or output is null".into());
        };
        let held =
            session.0.output(index).ok_or("neap_session_output: no output of this number is held in the arena")?;
        // SAFETY: not null, hence writable.
        unsafe { output.write(RawInput { data: held.as_ptr().cast(), bytes: held.len() }) };
        Ok(())
    })
}

/// Runs a body; keeps its error, or that it panicked, for [`neap_last_error`].
fn guard(body: impl FnOnce() -> Result<(), String>) -> c_int {
    let result = catch_unwind(AssertUnwindSafe(body));
    match result.unwrap_or_else(|_| Err("neap panicked; please report this as a bug".into())) {
        Ok(()) => 0,
        Err(message) => {
            LAST_ERROR.set(c_string(&message));
            -1
        }
    }
}

fn known_flags(flags: u32, known: u32) -> Result<(), String> {
    if flags & !known == 0 { Ok(()) } else { Err(format!("unknown flags {:#x}", flags & !known)) }
}

/// A C string; zero bytes inside, which ONNX names may have, are left out.
fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

fn names(tensors: &[TensorInfo]) -> Vec<CString> {
    tensors.iter().map(|t| c_string(&t.name)).collect()
}

#[cfg(unix)]
fn os_path(path: &CStr) -> Result<&std::path::Path, String> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::path::Path::new(std::ffi::OsStr::from_bytes(path.to_bytes())))
}

#[cfg(not(unix))]
fn os_path(path: &CStr) -> Result<&std::path::Path, String> {
    path.to_str().map(std::path::Path::new).map_err(|_| "the path is not UTF-8".into())
}

/// # Safety
/// `tensor` is null or writable.
unsafe fn describe(side: Option<(&[TensorInfo], &[CString])>, index: usize, tensor: *mut NeapTensor) -> c_int {
    guard(|| {
        let (Some((tensors, names)), false) = (side, tensor.is_null()) else {
            return Err("model or tensor is null".into());
        };
        let count = tensors.len();
        let info = tensors.get(index).ok_or_else(|| format!("there is no tensor {index}, only {count} of them"))?;
        let described = NeapTensor {
            name: names[index].as_ptr(),
            dtype: info.dtype as u32,
            rank: info.dims.len() as u32,
            dims: info.dims.as_ptr(),
            bytes: info.bytes().unwrap_or(u64::MAX),
        };
        // SAFETY: not null, hence writable.
        unsafe { ptr::write(tensor, described) };
        Ok(())
    })
}

/// # Safety
/// `start` has `count` entries, or is null and there are none.
unsafe fn slice<'a, T>(start: *const T, count: usize) -> &'a [T] {
    // A null array is taken as an empty one, so that a wrong count is reported instead of followed.
    // SAFETY: passed on from the caller.
    if start.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(start, count) } }
}
