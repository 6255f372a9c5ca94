use fencepost_faults::Node;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

pub(crate) const RESOURCE: &str = "lock:orders";
pub(crate) const STORAGE_PORT: u16 = 9000;

pub(crate) fn address(place: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, (place / 250) as u8, (place % 250) as u8 + 1)
}

pub(crate) fn addresses(nodes: &[Node]) -> BTreeMap<String, Ipv4Addr> {
    let places = nodes.iter().enumerate();
    places.map(|(place, node)| (node.to_string(), address(place))).collect()
}
