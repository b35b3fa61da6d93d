//! Attribute values of operators, as plain data.

use crate::DType;

/// One attribute. Enumerations are `Int` (their ODS case number); use the enum's `TryFrom<i64>`.
#[derive(Clone, Debug, PartialEq)]
pub enum Attr {
    /// I64Attr or an enumeration.
    Int(i64),
    /// F64Attr.
    Float(f64),
    /// BoolAttr.
    Bool(bool),
    /// StrAttr.
    Str(String),
    /// DenseI64ArrayAttr.
    Ints(Vec<i64>),
    /// DenseF64ArrayAttr.
    Floats(Vec<f64>),
    /// ElementsAttr of `graph.constant`: little-endian elements, or one element when `splat`.
    Elements {
        /// Element type.
        dtype: DType,
        /// Shape.
        dims: Vec<u64>,
        /// Row-major little-endian data; `Bool` as bytes 0 or 1.
        data: Vec<u8>,
        /// Whether `data` holds one element standing for all.
        splat: bool,
    },
}

/// Attributes of one op, sorted by name.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Attrs(Vec<(&'static str, Attr)>);

impl Attrs {
    /// No attributes.
    pub fn new() -> Self {
        Attrs::default()
    }

    /// Adds or replaces one attribute; chainable.
    pub fn with(mut self, name: &'static str, value: Attr) -> Self {
        match self.0.binary_search_by_key(&name, |(n, _)| n) {
            Ok(i) => self.0[i].1 = value,
            Err(i) => self.0.insert(i, (name, value)),
        }
        self
    }

    /// Adds an integer or enumeration.
    pub fn int(self, name: &'static str, v: impl Into<i64>) -> Self {
        self.with(name, Attr::Int(v.into()))
    }

    /// Adds a float.
    pub fn float(self, name: &'static str, v: f64) -> Self {
        self.with(name, Attr::Float(v))
    }

    /// Adds a bool.
    pub fn flag(self, name: &'static str, v: bool) -> Self {
        self.with(name, Attr::Bool(v))
    }

    /// Adds an integer list.
    pub fn ints(self, name: &'static str, v: impl Into<Vec<i64>>) -> Self {
        self.with(name, Attr::Ints(v.into()))
    }

    /// Adds a string.
    pub fn str(self, name: &'static str, v: impl Into<String>) -> Self {
        self.with(name, Attr::Str(v.into()))
    }

    /// The attribute `name`, if present.
    pub fn get(&self, name: &str) -> Option<&Attr> {
        self.0.binary_search_by(|(n, _)| (*n).cmp(name)).ok().map(|i| &self.0[i].1)
    }

    /// All attributes in order of name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Attr)> {
        self.0.iter().map(|(n, a)| (*n, a))
    }

    /// An integer attribute.
    ///
    /// # Panics
    /// If the op has no such attribute: the op table says which attributes each op carries, so this is neap's own fault.
    pub fn get_int(&self, name: &str) -> i64 {
        match self.get(name) {
            Some(Attr::Int(v)) => *v,
            other => panic!("attribute {name} is {other:?}, expected an integer"),
        }
    }

    /// An enumeration attribute; panics as [`Attrs::get_int`].
    pub fn get_enum<E: TryFrom<i64>>(&self, name: &str) -> E {
        let v = self.get_int(name);
        E::try_from(v).unwrap_or_else(|_| panic!("attribute {name} has no case {v}"))
    }

    /// A float attribute; panics as [`Attrs::get_int`].
    pub fn get_float(&self, name: &str) -> f64 {
        match self.get(name) {
            Some(Attr::Float(v)) => *v,
            other => panic!("attribute {name} is {other:?}, expected a float"),
        }
    }

    /// A bool attribute; panics as [`Attrs::get_int`].
    pub fn get_bool(&self, name: &str) -> bool {
        match self.get(name) {
            Some(Attr::Bool(v)) => *v,
            other => panic!("attribute {name} is {other:?}, expected a bool"),
        }
    }

    /// An integer list; panics as [`Attrs::get_int`].
    pub fn get_ints(&self, name: &str) -> &[i64] {
        match self.get(name) {
            Some(Attr::Ints(v)) => v,
            other => panic!("attribute {name} is {other:?}, expected integers"),
        }
    }

    /// A float list; panics as [`Attrs::get_int`].
    pub fn get_floats(&self, name: &str) -> &[f64] {
        match self.get(name) {
            Some(Attr::Floats(v)) => v,
            other => panic!("attribute {name} is {other:?}, expected floats"),
        }
    }

    /// A string; panics as [`Attrs::get_int`].
    pub fn get_str(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Attr::Str(v)) => v,
            other => panic!("attribute {name} is {other:?}, expected a string"),
        }
    }
}
