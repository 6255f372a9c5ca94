use crate::operators::operator::{Operator, constructors};
use crate::operators::resp::Call;
use crate::operators::rule::redis::Rule;

constructors!(
    pub(crate) Redis,
    by = lock(Redis: Rule),
    asks = lock(Redis(Words): fn(&mut Call) -> bool),
    unsent = lock(Redis(Unsent): fn(&Call) -> Option<&'static str>),
    hears = lock(Redis(Heard): fn(&Call, &[u8]) -> Option<&'static str>),
    on = server(Redis: Rule),
    asks_on = server(Redis(Words): fn(&mut Call) -> bool),
);
