//! Test support: [`Bench`] for one machine, [`World`] for several. The crate has no Cargo features.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![forbid(unsafe_code)]

mod bench;
pub mod depth;
pub mod differential;
pub mod disks;
#[cfg(unix)]
mod nobody;
mod real;
mod world;

pub use bench::Bench;
#[cfg(unix)]
pub use nobody::{give_to_nobody, run_as_nobody};
pub use real::{
    PATIENCE, Process, free_port, instant, rest, signal, skip, wait_for, wait_until_ready,
};
pub use world::{Crash, End, Host, World, members};

/// Implements `Deref` and `DerefMut` for a wrapper, for example of a [`Bench`] or a [`World`].
#[macro_export]
macro_rules! deref {
    ($outer:ty, $field:tt: $inner:ty) => {
        impl std::ops::Deref for $outer {
            type Target = $inner;

            fn deref(&self) -> &$inner {
                &self.$field
            }
        }

        impl std::ops::DerefMut for $outer {
            fn deref_mut(&mut self) -> &mut $inner {
                &mut self.$field
            }
        }
    };
}
