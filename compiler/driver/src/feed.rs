//! Inputs: read, matched with what a model wants, or made up from a seed.

use std::collections::BTreeMap;

use neap_optable::{DType, Tensor};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::arrays;
use crate::cli::InputOptions;
use crate::failure::Failure;

/// Arrays by input name.
pub type Given = BTreeMap<String, Tensor>;

/// One input as a model declares it.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Name.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Shape.
    pub dims: Vec<u64>,
}

/// Reads the files that the options name. Arrays `in:NAME` count as `NAME`, and `out:NAME` (stored results) are left out.
pub fn read(options: &InputOptions) -> Result<Given, Failure> {
    let mut given = Given::new();
    if let Some(path) = &options.inputs {
        for (name, t) in arrays::read_npz(path)? {
            if name.starts_with("out:") {
                continue;
            }
            given.insert(name.strip_prefix("in:").map(String::from).unwrap_or(name), t);
        }
    }
    for (name, path) in &options.input {
        if given.insert(name.clone(), arrays::read_npy(path)?).is_some() {
            let again = options.input.iter().filter(|i| i.0 == *name).count() > 1;
            let how = if again { "--input gives '{}' twice" } else { "--inputs and --input both give '{}'; drop one" };
            return Err(Failure::usage(how.replace("{}", name)));
        }
    }
    Ok(given)
}

/// One tensor for each wanted input, in order: the given ones checked, the others random where `seed` allows.
pub fn complete(wanted: &[Wanted], given: &Given, seed: Option<u64>) -> Result<Vec<Tensor>, Failure> {
    let names = || wanted.iter().map(|w| format!("'{}'", w.name)).collect::<Vec<_>>().join(", ");
    if let Some(stray) = given.keys().find(|n| wanted.iter().all(|w| w.name != **n)) {
        return Err(Failure::new(format!("the model has no input '{stray}'; its inputs are {}", names())));
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed.unwrap_or(0));
    let mut out = vec![];
    for w in wanted {
        let made_up = make_up(w, &mut random)?;
        let Some(t) = given.get(&w.name) else {
            if seed.is_none() {
                return Err(Failure::new(format!(
                    "input '{}' ({}{:?}) is not given; use --inputs FILE.npz, --input '{}=FILE.npy' or --random SEED",
                    w.name, w.dtype, w.dims, w.name
                )));
            }
            out.push(made_up);
            continue;
        };
        if t.dtype != w.dtype {
            return Err(Failure::new(format!(
                "input '{}' has element type {}, expected {}; convert it with astype{}",
                w.name,
                t.dtype,
                w.dtype,
                if w.dtype == DType::BF16 { "(ml_dtypes.bfloat16)" } else { "" }
            )));
        }
        if t.dims != w.dims {
            return Err(Failure::new(format!("input '{}' has shape {:?}, expected {:?}", w.name, t.dims, w.dims)));
        }
        out.push(t.clone());
    }
    Ok(out)
}

/// Floats uniform in [-1, 1), integers in [0, 8), bools by coin.
fn make_up(w: &Wanted, random: &mut ChaCha8Rng) -> Result<Tensor, Failure> {
    let too_large = || Failure::new(format!("input '{}' ({}{:?}) does not fit in memory", w.name, w.dtype, w.dims));
    let count = w.dims.iter().try_fold(1u64, |n, &d| n.checked_mul(d)).ok_or_else(too_large)?;
    let bytes = count.checked_mul(w.dtype.size()).and_then(|b| usize::try_from(b).ok()).ok_or_else(too_large)?;
    let mut data: Vec<u8> = vec![];
    data.try_reserve_exact(bytes).map_err(|_| too_large())?;
    for _ in 0..count {
        match w.dtype {
            DType::F32 => data.extend_from_slice(&random.random_range(-1.0f32..1.0).to_le_bytes()),
            DType::F64 => data.extend_from_slice(&random.random_range(-1.0f64..1.0).to_le_bytes()),
            DType::F16 => data.extend_from_slice(&half::f16::from_f32(random.random_range(-1.0..1.0)).to_le_bytes()),
            DType::BF16 => data.extend_from_slice(&half::bf16::from_f32(random.random_range(-1.0..1.0)).to_le_bytes()),
            DType::Bool => data.push(u8::from(random.random::<bool>())),
            _ => {
                let v: u64 = random.random_range(0..8);
                data.extend_from_slice(&v.to_le_bytes()[..w.dtype.size() as usize]);
            }
        }
    }
    Ok(Tensor { dtype: w.dtype, dims: w.dims.clone(), data: data.into() })
}
