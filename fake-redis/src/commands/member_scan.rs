use super::collection::read;
use super::scan::{Grammar, parse_cursor, parse_options, step};
use crate::data::glob;
use crate::data::number::double_text;
use crate::data::value::{Set, SortedSet};
use crate::protocol::error::CommandResult;
use crate::state::command_info::{Flags, Keys};
use crate::state::server::{Call, Command};

pub(crate) static COMMANDS: &[Command] = &[
    Command::new("sscan", -3, Flags::READONLY, Keys::ONE, sscan),
    Command::new("zscan", -3, Flags::READONLY, Keys::ONE, zscan),
];

fn write(call: &mut Call<'_>, next: usize, found: &[Vec<u8>]) {
    call.reply.array(2);
    call.reply.bulk(itoa::Buffer::new().format(next as i64).as_bytes());
    call.reply.array(found.len());
    found.iter().for_each(|element| call.reply.bulk(element));
}

fn sscan(call: &mut Call<'_>) -> CommandResult {
    let cursor = parse_cursor(call.arg(2))?;
    let arguments = call.args.from(3);
    let (set, _) = read::<Set>(call, call.arg(1))?;
    let Some(set) = set else {
        write(call, 0, &[]);
        return Ok(());
    };
    let options = parse_options(arguments, Grammar::HScan)?;
    let is_small = matches!(set, Set::Integers(_));
    let (positions, next) =
        if is_small { (0..set.len(), 0) } else { step(cursor, options.count, set.len()) };
    let members = positions.filter_map(|position| set.at(position));
    let wanted = members
        .filter(|member| options.pattern.is_none_or(|pattern| glob::matches(pattern, member)));
    let found: Vec<Vec<u8>> = wanted.map(|member| member.into_owned()).collect();
    write(call, next, &found);
    Ok(())
}

fn zscan(call: &mut Call<'_>) -> CommandResult {
    let cursor = parse_cursor(call.arg(2))?;
    let arguments = call.args.from(3);
    let (set, _) = read::<SortedSet>(call, call.arg(1))?;
    let Some(set) = set else {
        write(call, 0, &[]);
        return Ok(());
    };
    let options = parse_options(arguments, Grammar::HScan)?;
    let is_small = set.is_listed();
    let (positions, next) =
        if is_small { (0..set.len(), 0) } else { step(cursor, options.count, set.len()) };
    let members = positions
        .filter_map(|position| if is_small { set.at(position) } else { set.at_place(position) });
    let wanted = members
        .filter(|(member, _)| options.pattern.is_none_or(|pattern| glob::matches(pattern, member)));
    let found: Vec<Vec<u8>> = wanted
        .flat_map(|(member, score)| [member.to_vec(), double_text(score).into_bytes()])
        .collect();
    write(call, next, &found);
    Ok(())
}
