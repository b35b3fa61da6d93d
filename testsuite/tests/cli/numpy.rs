//! Files as numpy writes them, byte by byte, so that the driver's own writer is not tested by itself.

/// A `.npy` file of one element type (`<f4`, `<i8`, ...).
pub fn npy(descr: &str, dims: &[u64], data: &[u8]) -> Vec<u8> {
    let shape: String = dims.iter().map(|d| format!("{d},")).collect();
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    header.extend(std::iter::repeat_n(' ', length - header.len() - 1));
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.as_bytes());
    out.extend(data);
    out
}

/// A `.npy` file of floats.
pub fn floats(dims: &[u64], data: &[f32]) -> Vec<u8> {
    npy("<f4", dims, &data.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>())
}

/// The elements of a `.npy` file of floats.
pub fn read_floats(file: &[u8]) -> Vec<f32> {
    let header = u16::from_le_bytes([file[8], file[9]]) as usize;
    file[10 + header..].chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// A `.npz` file: a zip archive of stored `.npy` files.
pub fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut out, mut directory) = (vec![], vec![]);
    for (name, data) in arrays {
        let name = format!("{name}.npy");
        let at = out.len() as u32;
        // Version, flags, method, time, date; then the checksum and the sizes.
        let mut entry = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        entry.extend(crc32(data).to_le_bytes());
        entry.extend((data.len() as u32).to_le_bytes());
        entry.extend((data.len() as u32).to_le_bytes());
        entry.extend((name.len() as u16).to_le_bytes());
        entry.extend([0, 0]);
        out.extend(b"PK\x03\x04");
        out.extend(&entry);
        out.extend(name.as_bytes());
        out.extend(data);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&entry);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let at = out.len() as u32;
    out.extend(&directory);
    out.extend(b"PK\x05\x06\x00\x00\x00\x00");
    out.extend((arrays.len() as u16).to_le_bytes());
    out.extend((arrays.len() as u16).to_le_bytes());
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend([0, 0]);
    out
}

fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(!0u32, |crc, b| {
        (0..8).fold(crc ^ u32::from(*b), |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 })
    })
}
