use crc::{CRC_64_REDIS, Crc, Table};

static REDIS: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_REDIS);

pub(super) fn checksum(bytes: &[u8]) -> u64 {
    REDIS.checksum(bytes)
}

#[test]
fn the_checksum_is_that_of_redis_own_test_vector() {
    assert_eq!(checksum(b"123456789"), 0xe9c6_d914_c4b8_d9ca);
}
