//! Tensors in and out of numpy files.
//!
//! numpy has no bf16: such arrays are raw data of 2 bytes an element (`V2`), as the package `ml_dtypes` saves its `bfloat16`;
//! `array.view(ml_dtypes.bfloat16)` makes numbers of what was loaded.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use neap_optable::{DType, Element, Tensor};
use npyz::{DType as NpyDType, FixedSizeBytes, NpyFile, TypeChar, WriterBuilder};

use crate::failure::{At, Failure};
use crate::files;

/// Reads a `.npy` file.
pub fn read_npy(path: &Path) -> Result<Tensor, Failure> {
    let file = File::open(path).at(path.display())?;
    if file.metadata().at(path.display())?.is_dir() {
        return Err(Failure::new(format!("{}: is a folder, expected a .npy file", path.display())));
    }
    read_array(BufReader::new(file))
        .map_err(|e| Failure::new(format!("{}: {e}; write it with numpy.save", path.display())))
}

/// Reads all arrays of a `.npz` file.
pub fn read_npz(path: &Path) -> Result<BTreeMap<String, Tensor>, Failure> {
    let broken = |e: &dyn std::fmt::Display| {
        Failure::new(format!(
            "{}: not a readable npz file ({}); write it with numpy.savez",
            path.display(),
            one_line(e)
        ))
    };
    let meta = std::fs::metadata(path).at(path.display())?;
    if meta.is_dir() {
        return Err(Failure::new(format!("{}: is a folder, expected a .npz file", path.display())));
    }
    let mut npz = npyz::npz::NpzArchive::open(path).map_err(|e| broken(&e))?;
    let names: Vec<String> = npz.array_names().map(String::from).collect();
    let mut out = BTreeMap::new();
    for name in names {
        let npy = opened(|| npz.by_name(&name)).map_err(|e| broken(&e))?;
        let npy = npy.ok_or_else(|| broken(&"an entry vanished"))?;
        let t = read_file(npy).map_err(|e| Failure::new(format!("{}: array '{name}': {e}", path.display())))?;
        out.insert(name, t);
    }
    Ok(out)
}

/// The first line of an error, which the parser of headers illustrates on more.
fn one_line(e: &dyn std::fmt::Display) -> String {
    let text = e.to_string();
    text.lines().next().unwrap_or_default().trim_end_matches([':', ' ']).to_string()
}

fn read_array(r: impl Read) -> Result<Tensor, String> {
    read_file(opened(|| NpyFile::new(r)).map_err(|e| format!("not a readable npy file ({})", one_line(&e)))?)
}

/// The parser of headers multiplies sizes unchecked, so an absurd shape overflows: a panic in builds that look for it, and in
/// others found by [`read_file`].
fn opened<T>(open: impl FnOnce() -> std::io::Result<T>) -> std::io::Result<T> {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(open));
    result.unwrap_or_else(|_| Err(std::io::Error::other("its shape is too large")))
}

fn read_file<R: Read>(npy: NpyFile<R>) -> Result<Tensor, String> {
    let NpyDType::Plain(ty) = npy.dtype() else {
        return Err("records are not supported, expected a plain array".into());
    };
    let dims = npy.shape().to_vec();
    let count: u64 = dims.iter().try_fold(1u64, |a, &d| a.checked_mul(d)).ok_or("its shape is too large")?;
    let fortran = npy.header().order() == npyz::Order::Fortran;
    macro_rules! read {
        ($t:ty) => {{ elements(npy, |v: $t| v.to_le_bytes())? }};
        ($t:ty => $bytes:expr) => {{ elements::<$t, R, 2>(npy, $bytes)? }};
    }
    let (dtype, data) = match (ty.type_char(), ty.size_field()) {
        (TypeChar::Float, 2) => (DType::F16, read!(npyz::half::f16 => |v| v.to_le_bytes())),
        (TypeChar::RawData, 2) => (DType::BF16, read!(FixedSizeBytes<2> => |v| v.0)),
        (TypeChar::Float, 4) => (DType::F32, read!(f32)),
        (TypeChar::Float, 8) => (DType::F64, read!(f64)),
        (TypeChar::Int, 1) => (DType::I8, read!(i8)),
        (TypeChar::Int, 2) => (DType::I16, read!(i16)),
        (TypeChar::Int, 4) => (DType::I32, read!(i32)),
        (TypeChar::Int, 8) => (DType::I64, read!(i64)),
        (TypeChar::Uint, 1) => (DType::U8, read!(u8)),
        (TypeChar::Uint, 2) => (DType::U16, read!(u16)),
        (TypeChar::Uint, 4) => (DType::U32, read!(u32)),
        (TypeChar::Uint, 8) => (DType::U64, read!(u64)),
        (TypeChar::Bool, _) => {
            let v: Vec<bool> = npy.into_vec().map_err(|e| format!("data ends early or is damaged ({e})"))?;
            (DType::Bool, v.into_iter().map(u8::from).collect())
        }
        _ => {
            return Err(format!(
                "element type {ty} is not supported; use float16, float32, float64, int8 to int64, uint8 to uint64, bool, or V2 for bfloat16"
            ));
        }
    };
    if count.checked_mul(dtype.size()) != Some(data.len() as u64) {
        return Err(format!("data ends early: {} bytes for shape {dims:?} of {dtype}", data.len()));
    }
    let t = Tensor { dtype, dims, data: data.into() };
    Ok(if fortran { row_major(&t) } else { t })
}

fn elements<T: npyz::Deserialize, R: Read, const N: usize>(
    npy: NpyFile<R>,
    bytes: impl Fn(T) -> [u8; N],
) -> Result<Vec<u8>, String> {
    let damaged = |e: &dyn std::fmt::Display| format!("data ends early or is damaged ({})", one_line(e));
    // One by one, so that no memory is asked for that the file does not fill.
    let mut out = vec![];
    for e in npy.data::<T>().map_err(|e| damaged(&e))? {
        out.extend_from_slice(&bytes(e.map_err(|e| damaged(&e))?));
    }
    Ok(out)
}

/// Column-major data of a tensor's shape, laid out row-major.
fn row_major(t: &Tensor) -> Tensor {
    let size = t.dtype.size() as usize;
    let mut data = Vec::with_capacity(t.data.len());
    let mut index = vec![0u64; t.dims.len()];
    for _ in 0..t.len() {
        let (mut at, mut stride) = (0, 1);
        for (i, d) in index.iter().zip(&t.dims) {
            at += i * stride;
            stride *= d;
        }
        data.extend_from_slice(&t.data[at as usize * size..][..size]);
        for axis in (0..index.len()).rev() {
            index[axis] += 1;
            if index[axis] < t.dims[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    Tensor { dtype: t.dtype, dims: t.dims.clone(), data: data.into() }
}

/// Writes a `.npy` file under a temporary name and renames it.
pub fn write_npy(path: &Path, t: &Tensor) -> Result<(), Failure> {
    files::write(path, |w| write_array(w, t))
}

fn write_array(mut w: impl Write, t: &Tensor) -> std::io::Result<()> {
    fn go<T: Element + npyz::AutoSerialize>(w: &mut impl Write, t: &Tensor) -> std::io::Result<()> {
        let mut out = npyz::WriteOptions::new().default_dtype().shape(&t.dims).writer(w).begin_nd()?;
        out.extend(t.elements::<T>().expect("caller matched the element type"))?;
        out.finish()
    }
    match t.dtype {
        DType::F32 => go::<f32>(&mut w, t),
        DType::F64 => go::<f64>(&mut w, t),
        DType::I8 => go::<i8>(&mut w, t),
        DType::I16 => go::<i16>(&mut w, t),
        DType::I32 => go::<i32>(&mut w, t),
        DType::I64 => go::<i64>(&mut w, t),
        DType::U8 => go::<u8>(&mut w, t),
        DType::U16 => go::<u16>(&mut w, t),
        DType::U32 => go::<u32>(&mut w, t),
        DType::U64 => go::<u64>(&mut w, t),
        DType::Bool => go::<bool>(&mut w, t),
        DType::F16 => two_bytes(&mut w, t, "<f2", npyz::half::f16::from_le_bytes),
        DType::BF16 => two_bytes(&mut w, t, "|V2", FixedSizeBytes),
    }?;
    w.flush()
}

/// Writes elements of 2 bytes as a type of numpy's.
fn two_bytes<T: npyz::Serialize>(
    w: &mut impl Write,
    t: &Tensor,
    name: &str,
    element: fn([u8; 2]) -> T,
) -> std::io::Result<()> {
    let ty = name.parse().map_err(|_| std::io::Error::other(format!("numpy has no type {name}")))?;
    let mut out = npyz::WriteOptions::<T>::new().dtype(NpyDType::Plain(ty)).shape(&t.dims).writer(w).begin_nd()?;
    out.extend(t.data.as_chunks::<2>().0.iter().map(|b| element(*b)))?;
    out.finish()
}

/// File name of an output: characters outside `[A-Za-z0-9._-]` become `_`.
pub fn output_path(dir: &Path, name: &str) -> PathBuf {
    let safe: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    dir.join(format!("{safe}.npy"))
}
