use super::operator::{At, Of, Operator, Side};
use super::resp::{Call, number};
use super::rule::{Rule, redis};

const fn words(
    name: &'static str,
    about: &'static str,
    side: Side,
    rule: fn(&mut Call) -> bool,
) -> Operator {
    let rule = Rule::Redis(redis::Rule::Words(rule));
    Operator { name, about, side, of: Of::Tokens, at: At::Storage, rule }
}

pub(crate) const TABLE: &[Operator] = &[
    words("token-not-sent", "sends no token with its writes", Side::Lock, |call| {
        is_write(call) && token(call, |_| None)
    }),
    words("token-not-sent-to-read", "sends no token with its reads", Side::Lock, |call| {
        !is_write(call) && token(call, |_| None)
    }),
    words("token-of-the-highest", "sends a token higher than all others", Side::Lock, |call| {
        token(call, |_| Some(u64::from(u32::MAX)))
    }),
    words(
        "token-backwards",
        "sends tokens that decrease instead of increasing",
        Side::Lock,
        |call| token(call, |token| Some(u64::from(u32::MAX).wrapping_sub(token))),
    ),
    words("token-coarse", "sends the same token for four acquisitions", Side::Lock, |call| {
        token(call, |token| Some(token / 4))
    }),
    words("tokens-unchecked", "the storage checks no token", Side::Server, |call| {
        token(call, |_| None)
    }),
];

fn is_write(call: &Call) -> bool {
    call.name() == "WRITE"
}

fn token(call: &mut Call, other: fn(u64) -> Option<u64>) -> bool {
    let Some(word) = call.words.get_mut(3) else { return false };
    let Some(token) = number(word) else { return false };
    *word = other(token).map_or_else(|| b"-".to_vec(), |token| token.to_string().into_bytes());
    true
}
