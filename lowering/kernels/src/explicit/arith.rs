//! Arithmetic, comparisons and conversions on scalars and vectors.

use melior::ir::attribute::IntegerAttribute;

use super::builder::Builder;
use super::types::{Elem, V};

/// A comparison. On floats those without `U` are ordered (false with a NaN), but `Ne` is true with a NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Unsigned, integers only.
    Ult,
    /// Unsigned, integers only.
    Ule,
    /// Unsigned, integers only.
    Ugt,
    /// Unsigned, integers only.
    Uge,
}

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident($float:literal, $int:literal, $fold:expr);)*) => { impl<'c> Builder<'c> { $(
        $(#[$doc])*
        pub fn $name(&self, a: V<'c>, b: V<'c>) -> V<'c> {
            let fold: fn(Elem, i64, i64) -> Option<i64> = $fold;
            self.binary($float, $int, fold, a, b)
        }
    )* } };
}

binary! {
    /// a + b
    add("arith.addf", "arith.addi", |_, a, b| Some(a.wrapping_add(b)));
    /// a - b
    sub("arith.subf", "arith.subi", |_, a, b| Some(a.wrapping_sub(b)));
    /// a * b
    mul("arith.mulf", "arith.muli", |_, a, b| Some(a.wrapping_mul(b)));
    /// a / b; integers are signed and round towards zero
    div("arith.divf", "arith.divsi", |_, a, b| a.checked_div(b));
    /// Unsigned quotient
    div_u("", "arith.divui", |e, a, b| unsigned(e, a).checked_div(unsigned(e, b)).map(|v| v as i64));
    /// Signed remainder, with the sign of a
    rem("", "arith.remsi", |_, a, b| a.checked_rem(b));
    /// Unsigned remainder
    rem_u("", "arith.remui", |e, a, b| unsigned(e, a).checked_rem(unsigned(e, b)).map(|v| v as i64));
    /// Bitwise and
    and("", "arith.andi", |_, a, b| Some(a & b));
    /// Bitwise or
    or("", "arith.ori", |_, a, b| Some(a | b));
    /// Bitwise exclusive or
    xor("", "arith.xori", |_, a, b| Some(a ^ b));
    /// Shift left
    shl("", "arith.shli", |_, a, b| a.checked_shl(b as u32));
    /// Shift right, keeping the sign
    shr_s("", "arith.shrsi", |_, a, b| a.checked_shr(b as u32));
    /// Shift right, filling with zeros
    shr_u("", "arith.shrui", |e, a, b| unsigned(e, a).checked_shr(b as u32).map(|v| v as i64));
    /// Smaller; a NaN wins, integers are signed
    min("arith.minimumf", "arith.minsi", |_, a, b| Some(a.min(b)));
    /// Larger; a NaN wins, integers are signed
    max("arith.maximumf", "arith.maxsi", |_, a, b| Some(a.max(b)));
    /// Smaller of unsigned
    min_u("", "arith.minui", |e, a, b| Some(unsigned(e, a).min(unsigned(e, b)) as i64));
    /// Larger of unsigned
    max_u("", "arith.maxui", |e, a, b| Some(unsigned(e, a).max(unsigned(e, b)) as i64));
    /// Magnitude of a with the sign of b
    copysign("math.copysign", "", |_, _, _| None);
}

fn unsigned(e: Elem, v: i64) -> u64 {
    if e.bits() == 64 { v as u64 } else { v as u64 & ((1u64 << e.bits()) - 1) }
}

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident($op:literal);)*) => { impl<'c> Builder<'c> { $(
        $(#[$doc])*
        pub fn $name(&self, a: V<'c>) -> V<'c> {
            assert!(a.elem().is_float(), concat!(stringify!($name), " of {}"), a.ty());
            self.emit($op, &[self.raw(a)], a.ty(), &[])
        }
    )* } };
}

unary! {
    /// Square root, correctly rounded
    sqrt("math.sqrt");
    /// Magnitude
    abs("math.absf");
    /// Rounds down
    floor("math.floor");
    /// Rounds up
    ceil("math.ceil");
    /// Rounds towards zero
    trunc("math.trunc");
    /// Rounds to the nearest, ties to even
    round_even("math.roundeven");
}

macro_rules! convert {
    ($($(#[$doc:meta])* $name:ident($op:literal);)*) => { impl<'c> Builder<'c> { $(
        $(#[$doc])*
        pub fn $name(&self, a: V<'c>, to: Elem) -> V<'c> {
            if a.elem() == to { return a; }
            self.emit($op, &[self.raw(a)], a.ty().with(to), &[])
        }
    )* } };
}

convert! {
    /// Signed integer to float
    si_to_fp("arith.sitofp");
    /// Unsigned integer to float
    ui_to_fp("arith.uitofp");
    /// Float to signed integer
    fp_to_si("arith.fptosi");
    /// Float to unsigned integer
    fp_to_ui("arith.fptoui");
    /// To a wider float
    ext_f("arith.extf");
    /// To a narrower float
    trunc_f("arith.truncf");
    /// The same bits as another type of the same width
    bitcast("arith.bitcast");
}

impl<'c> Builder<'c> {
    fn binary(&self, float: &str, int: &str, fold: fn(Elem, i64, i64) -> Option<i64>, a: V<'c>, b: V<'c>) -> V<'c> {
        let (a, b) = self.same_lanes(a, b);
        let name = if a.elem().is_float() { float } else { int };
        assert!(!name.is_empty() && a.ty() == b.ty(), "{float} {int} of {} and {}", a.ty(), b.ty());
        if let (Some(x), Some(y)) = (a.known(), b.known())
            && let Some(v) = fold(a.elem(), x, y)
        {
            return self.int(a.elem(), v);
        }
        match (name, a.known(), b.known()) {
            ("arith.addi", _, Some(0))
            | ("arith.subi", _, Some(0))
            | ("arith.muli" | "arith.divsi" | "arith.divui", _, Some(1)) => return a,
            ("arith.addi", Some(0), _) | ("arith.muli", Some(1), _) => return b,
            ("arith.muli", Some(0), _) | ("arith.muli", _, Some(0)) | ("arith.remsi" | "arith.remui", _, Some(1)) => {
                return self.int(a.elem(), 0);
            }
            ("arith.andi", Some(1), _) if a.elem() == Elem::I1 => return b,
            ("arith.andi", _, Some(1)) if a.elem() == Elem::I1 => return a,
            ("arith.andi", Some(0), _) | ("arith.andi", _, Some(0)) => return self.int(a.elem(), 0),
            _ => {}
        }
        self.emit(name, &[self.raw(a), self.raw(b)], a.ty(), &[])
    }

    /// Broadcasts the scalar if one is a scalar and the other a vector.
    pub(super) fn same_lanes(&self, a: V<'c>, b: V<'c>) -> (V<'c>, V<'c>) {
        match (a.ty().lanes, b.ty().lanes) {
            (0, n) if n > 0 => (self.broadcast(a, n), b),
            (n, 0) if n > 0 => (a, self.broadcast(b, n)),
            _ => (a, b),
        }
    }

    /// -a
    pub fn neg(&self, a: V<'c>) -> V<'c> {
        if a.elem().is_float() {
            self.emit("arith.negf", &[self.raw(a)], a.ty(), &[])
        } else {
            self.sub(self.zero(a.ty()), a)
        }
    }

    /// Bitwise complement.
    pub fn not(&self, a: V<'c>) -> V<'c> {
        self.xor(a, self.int(a.elem(), -1))
    }

    /// a * b + c, rounded once.
    pub fn fma(&self, a: V<'c>, b: V<'c>, c: V<'c>) -> V<'c> {
        let (a, c) = self.same_lanes(a, c);
        let (b, c) = self.same_lanes(b, c);
        let (a, c) = self.same_lanes(a, c);
        assert!(a.ty() == b.ty() && b.ty() == c.ty(), "fma of {}, {} and {}", a.ty(), b.ty(), c.ty());
        self.emit("math.fma", &[self.raw(a), self.raw(b), self.raw(c)], a.ty(), &[])
    }

    /// Compares; gives `I1` with the operands' lanes.
    pub fn cmp(&self, how: Cmp, a: V<'c>, b: V<'c>) -> V<'c> {
        let (a, b) = self.same_lanes(a, b);
        assert!(a.ty() == b.ty(), "{how:?} of {} and {}", a.ty(), b.ty());
        if let (Some(x), Some(y)) = (a.known(), b.known()) {
            let (u, w) = (unsigned(a.elem(), x), unsigned(a.elem(), y));
            let v = match how {
                Cmp::Eq => x == y,
                Cmp::Ne => x != y,
                Cmp::Lt => x < y,
                Cmp::Le => x <= y,
                Cmp::Gt => x > y,
                Cmp::Ge => x >= y,
                Cmp::Ult => u < w,
                Cmp::Ule => u <= w,
                Cmp::Ugt => u > w,
                Cmp::Uge => u >= w,
            };
            return self.int(Elem::I1, i64::from(v));
        }
        let float = a.elem().is_float();
        // The numbers of arith's predicate enumerations.
        let predicate = match (how, float) {
            (Cmp::Eq, false) => 0,
            (Cmp::Ne, false) => 1,
            (Cmp::Lt, false) => 2,
            (Cmp::Le, false) => 3,
            (Cmp::Gt, false) => 4,
            (Cmp::Ge, false) => 5,
            (Cmp::Ult, false) => 6,
            (Cmp::Ule, false) => 7,
            (Cmp::Ugt, false) => 8,
            (Cmp::Uge, false) => 9,
            (Cmp::Eq, true) => 1,
            (Cmp::Gt, true) => 2,
            (Cmp::Ge, true) => 3,
            (Cmp::Lt, true) => 4,
            (Cmp::Le, true) => 5,
            (Cmp::Ne, true) => 13,
            (Cmp::Ult | Cmp::Ule | Cmp::Ugt | Cmp::Uge, true) => panic!("{how:?} of {}", a.ty()),
        };
        self.compare(if float { "arith.cmpf" } else { "arith.cmpi" }, predicate, a, b)
    }

    /// Whether a float is a NaN.
    pub fn is_nan(&self, a: V<'c>) -> V<'c> {
        assert!(a.elem().is_float(), "is_nan of {}", a.ty());
        self.compare("arith.cmpf", 14, a, a)
    }

    fn compare(&self, name: &str, predicate: i64, a: V<'c>, b: V<'c>) -> V<'c> {
        let attribute = IntegerAttribute::new(Elem::I64.mlir(self.context()), predicate).into();
        self.emit(name, &[self.raw(a), self.raw(b)], a.ty().with(Elem::I1), &[("predicate", attribute)])
    }

    /// `then` where the condition holds, else `other`; a scalar condition may choose between vectors.
    pub fn select(&self, condition: V<'c>, then: V<'c>, other: V<'c>) -> V<'c> {
        let (mut then, mut other) = self.same_lanes(then, other);
        if condition.ty().lanes > 0 && then.ty().is_scalar() {
            then = self.broadcast(then, condition.ty().lanes);
            other = self.broadcast(other, condition.ty().lanes);
        }
        assert!(
            condition.elem() == Elem::I1 && then.ty() == other.ty(),
            "select by {} of {} and {}",
            condition.ty(),
            then.ty(),
            other.ty()
        );
        match condition.known() {
            Some(0) => other,
            Some(_) => then,
            None => self.emit("arith.select", &[self.raw(condition), self.raw(then), self.raw(other)], then.ty(), &[]),
        }
    }

    /// Between index and integers, signed.
    pub fn index_cast(&self, a: V<'c>, to: Elem) -> V<'c> {
        if a.elem() == to {
            return a;
        }
        if let Some(v) = a.known() {
            return self.int(to, v);
        }
        assert!(a.elem() == Elem::Index || to == Elem::Index, "index_cast of {} to {to:?}", a.ty());
        self.emit("arith.index_cast", &[self.raw(a)], a.ty().with(to), &[])
    }

    /// To an integer type of any width, signed.
    pub fn int_cast_s(&self, a: V<'c>, to: Elem) -> V<'c> {
        self.int_cast(a, to, "arith.extsi", |_, v| v)
    }

    /// To an integer type of any width, unsigned.
    pub fn int_cast_u(&self, a: V<'c>, to: Elem) -> V<'c> {
        self.int_cast(a, to, "arith.extui", |e, v| unsigned(e, v) as i64)
    }

    fn int_cast(&self, a: V<'c>, to: Elem, extend: &str, widen: fn(Elem, i64) -> i64) -> V<'c> {
        if let Some(v) = a.known() {
            return self.int(to, widen(a.elem(), v));
        }
        let name = match (a.elem().bits(), to.bits()) {
            _ if a.elem() == to => return a,
            (x, y) if x < y => extend,
            _ => "arith.trunci",
        };
        self.emit(name, &[self.raw(a)], a.ty().with(to), &[])
    }
}
