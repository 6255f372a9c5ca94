//! The CRC-64 of Redis's snapshots: the Jones polynomial, reflected, with neither initial nor final
//! inversion (crc64.c).

/// The polynomial 0xad93d23594c935a9, its bits reversed.
const POLYNOMIAL: u64 = 0x95ac_9329_ac4b_c9b5;

const TABLE: [u64; 256] = table();

const fn table() -> [u64; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut remainder = index as u64;
        let mut bit = 0;
        while bit < 8 {
            remainder =
                if remainder & 1 == 1 { (remainder >> 1) ^ POLYNOMIAL } else { remainder >> 1 };
            bit += 1;
        }
        table[index] = remainder;
        index += 1;
    }
    table
}

/// The checksum of some bytes.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |sum, byte| TABLE[usize::from(sum as u8 ^ byte)] ^ (sum >> 8))
}

#[test]
fn the_checksum_is_that_of_redis_own_test_vector() {
    assert_eq!(checksum(b"123456789"), 0xe9c6_d914_c4b8_d9ca);
}
