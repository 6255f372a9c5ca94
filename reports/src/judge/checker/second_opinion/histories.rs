use crate::record::history::History;
use crate::record::story::Story;
use fencepost_faults::draw::{chance, uniform};
use fencepost_faults::{Seed, Stream};
use rand_core::Rng;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Style {
    Plain,
    Nested,
    Fenced,
    Careless,
}

pub(super) fn random(style: Style, number: u64) -> History {
    let mut rng = Seed(number).stream(Stream::Plan(style as u16));
    let processes = uniform(&mut rng, 2..=4);
    let mut telling = HistoryBuilder {
        rng,
        style,
        story: Some(Story::new()),
        free_at: vec![1; processes as usize],
        busy: (0, 0),
        token: 0,
    };
    for turn in 0..uniform(&mut telling.rng, 2..=7) {
        telling.turn(turn);
    }
    telling.story.take().unwrap_or_else(Story::new).build()
}

struct HistoryBuilder<R> {
    rng: R,
    style: Style,
    story: Option<Story>,
    free_at: Vec<u64>,
    busy: (u64, u64),
    token: u64,
}

impl<R: Rng> HistoryBuilder<R> {
    fn draw(&mut self, range: std::ops::RangeInclusive<u64>) -> u64 {
        uniform(&mut self.rng, range)
    }

    fn chance(&mut self, per_mille: u64) -> bool {
        chance(&mut self.rng, per_mille)
    }

    fn extend(&mut self, with: impl FnOnce(Story) -> Story) {
        self.story = self.story.take().map(with);
    }

    fn turn(&mut self, turn: u64) {
        let index = self.draw(0..=self.free_at.len() as u64 - 1) as usize;
        let client = index as u16 + 1;
        if self.chance(150) {
            self.attempt(client, index);
        }
        let owner = format!("owner-{turn}");
        let from = self.enters(client, index, &owner);
        let end = from + self.draw(0..=8);
        if self.style == Style::Nested && self.chance(400) {
            self.nests(client, &owner, from, end);
        }
        self.free_at[index] = self.leaves(client, &owner, end);
        self.busy = (from, self.busy.1.max(end));
    }

    fn attempt(&mut self, client: u16, index: usize) {
        let from = self.free_at[index] + self.draw(0..=3);
        let end = from + self.draw(0..=4);
        let known = self.chance(500);
        self.extend(|story| {
            let asked = story.acquires(from, client);
            if known { asked.fails(end, client) } else { asked.info(end, client) }
        });
        self.free_at[index] = end;
    }

    fn enters(&mut self, client: u16, index: usize, owner: &str) -> u64 {
        let too_early = self.style != Style::Careless && self.chance(300);
        let earliest = self.free_at[index];
        let (began, ends) = self.busy;
        let from =
            earliest.max(if too_early { self.draw(began..=ends) } else { ends + self.draw(0..=3) });
        let invoked = self.draw(earliest..=from);
        let granted = if self.style == Style::Careless { from } else { self.draw(invoked..=from) };
        let cheated = self.style == Style::Fenced && self.chance(120);
        let token = if cheated { self.draw(0..=self.token) } else { self.token + 1 };
        self.token = self.token.max(token);
        self.extend(|story| {
            story
                .acquires(invoked, client)
                .grants(granted, client, owner)
                .hears_token(from, client, owner, token)
        });
        from
    }

    fn nests(&mut self, client: u16, owner: &str, from: u64, end: u64) {
        let inner = self.draw(from..=end);
        let left = self.draw(inner..=end);
        self.extend(|story| {
            story.acquires(inner, client).hears(inner, client, owner).releases(left, client)
        });
    }

    fn leaves(&mut self, client: u16, owner: &str, end: u64) -> u64 {
        let returned = end + self.draw(0..=3);
        match self.draw(0..=99) {
            0..=69 => {
                let thief = if self.style == Style::Careless && self.chance(120) {
                    client % 2 + 1
                } else {
                    client
                };
                self.extend(|story| {
                    story.leaves(end, client).removed(end, owner, thief).left(returned, client)
                });
            }
            70..=79 => self.extend(|story| {
                story.leaves(end, client).expires(end, owner).info(returned, client)
            }),
            80..=89 => self.extend(|story| {
                story
                    .loses(end, client)
                    .expires(end, owner)
                    .leaves(end, client)
                    .left(returned, client)
            }),
            _ => self.extend(|story| {
                story.crashes(end, client).expires(end, owner).starts(returned, client)
            }),
        }
        returned
    }
}
