//! Derives session passwords from session ids, with the same result on every member.

const SECRET: i64 = 0xB341_5C00;
const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const MASK: u64 = (1 << 48) - 1;

/// Returns the output of `java.util.Random`, seeded with the session id and the secret.
pub(crate) fn of(session: i64) -> [u8; 16] {
    let mut state = ((session ^ SECRET).cast_unsigned() ^ MULTIPLIER) & MASK;
    let mut password = [0; 16];
    for four in password.chunks_exact_mut(4) {
        state = state.wrapping_mul(MULTIPLIER).wrapping_add(11) & MASK;
        let number = u32::try_from(state >> 16).unwrap_or_default();
        four.copy_from_slice(&number.to_le_bytes());
    }
    password
}
